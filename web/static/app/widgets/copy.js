// @ts-check
// A button that copies a text.

import { html, useState } from "../../vendor/htm-preact.js";
import { Icon } from "./icon.js";

const shown = 2000; // how long the button says that it has copied, ms

// Copy has a label for screen readers, such as "Copy the command".
/** @param {{text: string, label: string}} props */
export function Copy({ text, label }) {
  const [said, say] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied");
    } catch {
      say("Select and copy it"); // the browser doesn't let pages copy without encryption
    }
    setTimeout(() => say(""), shown);
  };
  return html`<button type="button" aria-label=${label} onClick=${copy}><${Icon} name=${said === "Copied" ? "check" : "copy"} /><span role="status">${said || "Copy"}</span></button>`;
}
