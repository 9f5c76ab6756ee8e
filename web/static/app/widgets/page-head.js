// @ts-check
// The title row of a page: the title at the left, the page's actions at the right.

import { html } from "../../vendor/htm-preact.js";
/** @import { View } from "../../vendor/htm-preact.js" */

/** @param {{title: string, children?: View}} props */
export function PageHead({ title, children }) {
  return html`
    <div class="page-head">
      <h1 class="title">${title}</h1>
      ${children && html`<div class="actions">${children}</div>`}
    </div>
  `;
}
