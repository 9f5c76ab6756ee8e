// @ts-check
// Commands within chatguard's texts.

import { html } from "../../vendor/htm-preact.js";

// withCode writes what a text has in `backticks` as code.
/** @param {string} text */
export const withCode = (text) => text.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
