// @ts-check
// The title row of a page: the title at the left, the page's actions at the right. It names the
// time zone of all times on the page.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { channelZone } from "../core/state.js";
/** @import { View } from "../../vendor/htm-preact.js" */

/** @param {{title: string, children?: View}} props */
export function PageHead({ title, children }) {
  const zone = channelZone();
  return html`
    <div class="page-head">
      <h1 class="title">${title}</h1>
      ${zone && html`<span class="zone muted">${t("widgets.times-in", { zone: zone.replaceAll("_", " ") })}</span>`}
      ${children && html`<div class="actions">${children}</div>`}
    </div>
  `;
}
