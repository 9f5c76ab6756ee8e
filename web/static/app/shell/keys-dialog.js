// @ts-check
// The dialog that lists the keys.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { pages, shownPages } from "../core/route.js";
import { pageKeys } from "./commands.js";
import { commandKey } from "./keys.js";
import { Dialog } from "../widgets/dialog.js";
/** @import { State } from "../core/state.js" */

// groups returns what keys do, by group.
/** @returns {Record<string, [string, string][]>} */
const groups = () => ({
  [t("shell.keys-anywhere")]: [
    [`${commandKey()} K`, t("shell.key-palette")],
    ["/", t("shell.key-find")],
    ["?", t("shell.key-keys")],
    ["Esc", t("shell.key-close")],
  ],
  [t("shell.keys-page")]: shownPages().map((page) => [`g ${pageKeys[page]}`, pages[page]]),
  [t("shell.keys-list")]: [
    ["↑ ↓", t("shell.key-next")],
    [`${t("shell.key-home")} ${t("shell.key-end")}`, t("shell.key-last")],
    [t("shell.key-enter"), t("shell.key-press")],
  ],
});

/** @param {{state: State, onClose: () => void}} props */
export function KeysDialog({ onClose }) {
  return html`
    <${Dialog} label=${t("shell.keys")} name="keys" onClose=${onClose}>
      <div class="key-groups">
        ${Object.entries(groups()).map(([name, keys]) => html`
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
