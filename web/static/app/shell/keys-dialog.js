// @ts-check
// The dialog that lists the keys.

import { html } from "../../vendor/htm-preact.js";
import { pages } from "../core/route.js";
import { pageKeys } from "./commands.js";
import { commandKey } from "./keys.js";
import { Dialog } from "../widgets/dialog.js";
/** @import { State } from "../core/state.js" */

/** @type {Record<string, [string, string][]>} what keys do, by group */
const groups = {
  "Anywhere": [
    [`${commandKey} K`, "Open the command palette"],
    ["/", "Find a user"],
    ["?", "Show these keys"],
    ["Esc", "Close what is open"],
  ],
  "Go to a page": /** @type {(keyof typeof pages)[]} */ (Object.keys(pages)).map((page) => [`g ${pageKeys[page]}`, pages[page]]),
  "In a list": [
    ["↑ ↓", "Previous or next row, same button"],
    ["Home End", "First or last row"],
    ["Enter", "Open or press"],
  ],
};

/** @param {{state: State, onClose: () => void}} props */
export function KeysDialog({ onClose }) {
  return html`
    <${Dialog} label="Keyboard shortcuts" name="keys" onClose=${onClose}>
      <div class="key-groups">
        ${Object.entries(groups).map(([name, keys]) => html`
          <section>
            <h3 class="muted">${name}</h3>
            <dl>
              ${keys.map(([key, does]) => html`<div><dt>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${does}</dd></div>`)}
            </dl>
          </section>
        `)}
      </div>
    <//>
  `;
}
