// @ts-check
// The guide to a client ID: the Twitch application of the owner, field by field.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";

// Twitch's pages for developers are in English.
const twitchPage = "Register Your Application";

/** @type {() => {name: string, value: string, isFixed?: boolean}[]} */
const fields = () => [
  { name: "Name", value: t("start.client-name") },
  { name: "OAuth Redirect URLs", value: "http://localhost", isFixed: true },
  { name: "Category", value: "Chat Bot" },
  { name: "Client Type", value: "Public" },
];

/** @param {{page: string}} props */
export function ClientIDGuide({ page }) {
  return html`
    <ol class="guide">
      <li>${rich("start.client-open", { page: html`<a href=${page} target="_blank" rel="noreferrer">${twitchPage}<${Icon} name="external-link" /></a>` })}</li>
      <li>${t("start.client-fill")}
        <dl>${fields().map(({ name, value, isFixed }) => html`<div><dt>${name}</dt><dd>${isFixed ? html`<code>${value}</code> <${Copy} text=${value} label=${t("start.copy-field", { field: name })} />` : value}</dd></div>`)}</dl>
      </li>
      <li>${t("start.client-copy")}</li>
    </ol>
  `;
}

// wrongClientID says what is wrong with a client ID, or "".
/** @param {string} id */
export const wrongClientID = (id) => (/^[0-9A-Za-z]{5,100}$/.test(id) ? "" : t("start.wrong-client"));
