// @ts-check
// The guide to a client ID: the Twitch application of the owner, field by field.

import { html } from "../../vendor/htm-preact.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";

/** @type {{name: string, value: string, isFixed?: boolean}[]} */
const fields = [
  { name: "Name", value: "any that is free, such as “chatguard of YOURCHANNEL”" },
  { name: "OAuth Redirect URLs", value: "http://localhost", isFixed: true },
  { name: "Category", value: "Chat Bot" },
  { name: "Client Type", value: "Public" },
];

/** @param {{page: string}} props */
export function ClientIDGuide({ page }) {
  return html`
    <ol class="guide">
      <li>Open <a href=${page} target="_blank" rel="noreferrer">Register Your Application<${Icon} name="external-link" /></a> on Twitch.
        Any account of yours will do, if it has two-factor authentication.</li>
      <li>Fill in the form, then press Create:
        <dl>${fields.map(({ name, value, isFixed }) => html`<div><dt>${name}</dt><dd>${isFixed ? html`<code>${value}</code> <${Copy} text=${value} what=${name} />` : value}</dd></div>`)}</dl>
      </li>
      <li>Press Manage beside its name, and copy the Client ID.</li>
    </ol>
  `;
}

// wrongClientID says what is wrong with a client ID, or "".
/** @param {string} id */
export const wrongClientID = (id) => (/^[0-9A-Za-z]{5,100}$/.test(id) ? "" : "A client ID consists of letters and digits only, usually 30. Copy it again.");
