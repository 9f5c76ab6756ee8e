// Adding a limit: what kinds there are, a sentence each.

import { html, useState } from "../vendor/htm-preact.js";
import { algorithms } from "./algorithms.js";
import { addLimit } from "./edits.js";

export function LimitChooser() {
  const [isOpen, setOpen] = useState(false);
  const add = (algorithm) => {
    setOpen(false);
    addLimit(algorithm);
  };
  const close = (event) => {
    if (event.key !== "Escape") return;
    setOpen(false);
    document.getElementById("add-limit").focus();
  };
  return html`
    <div class="chooser" onKeyDown=${close}>
      <button type="button" id="add-limit" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}>Add a limit</button>
      ${isOpen && html`
        <ul aria-label="Kinds of limits">
          ${Object.entries(algorithms).map(([algorithm, { name, about }]) => html`
            <li><button type="button" value=${algorithm} onClick=${() => add(algorithm)}><strong>${name}</strong> <span class="muted">${about}</span></button></li>
          `)}
        </ul>`}
    </div>
  `;
}
