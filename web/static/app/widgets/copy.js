// @ts-check
// A button that copies a text.

import { t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { Icon } from "./icon.js";

const shown = 2000; // how long the button says that it has copied, ms

// Copy has a label for screen readers, such as "Copy the command".
/** @param {{text: string, label: string}} props */
export function Copy({ text, label }) {
  const [result, show] = useState(/** @type {"" | "copied" | "refused"} */ (""));
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      show("copied");
    } catch {
      show("refused"); // the browser doesn't let pages copy without encryption
    }
    setTimeout(() => show(""), shown);
  };
  const said = result === "copied" ? t("widgets.copied") : result === "refused" ? t("widgets.copy-refused") : t("widgets.copy");
  return html`<button type="button" aria-label=${label} onClick=${copy}><${Icon} name=${result === "copied" ? "check" : "copy"} /><span role="status">${said}</span></button>`;
}
