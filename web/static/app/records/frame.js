// @ts-check
// The frame of the pages Journal and Audit: the filters above the records, and the button for older
// records below. The address bar contains the filters.

import { html, useLayoutEffect, useState } from "../../vendor/htm-preact.js";
import { linkTo, parse } from "../core/route.js";
import { csvAddress, filtersOf, loadMore } from "./records.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */
/** @import { Kind, Records } from "./records.js" */

/** @typedef {(name: string, value: string) => void} Choose */

// RecordsFilters shows the filter fields and the export link.
/** @param {{label: string, name: Kind, records: Records, children: View}} props */
export function RecordsFilters({ label, name, records, children }) {
  return html`
    <form class="filters" role="search" aria-label=${label} onSubmit=${(event) => event.preventDefault()}>
      ${children}
      <a class="export" href=${csvAddress(name, records)} download>Export as CSV</a>
    </form>
  `;
}

// filter returns a function that sets one filter in the address bar and keeps the others.
/** @param {State} state @param {Kind} page */
export const filter = (state, page) => (/** @type {string} */ name, /** @type {string} */ value) => {
  location.hash = linkTo(state, page, filtersOf(page, { ...parse(location.hash).query, [name]: value }));
};

// Text is a filter with a text field. It applies on Enter or when the field loses the focus.
/** @param {{name: string, label: string, value?: string, choose: Choose}} props */
export function Text({ name, label, value = "", choose }) {
  const [text, write] = useState(value);
  useLayoutEffect(() => write(value), [value]);
  return html`
    <div class="field">
      <label for=${`filter-${name}`}>${label}</label>
      <input id=${`filter-${name}`} type="search" autocomplete="off" maxlength="256" value=${text} onInput=${(event) => write(event.target.value)}
        onChange=${(event) => choose(name, event.target.value.trim())} />
    </div>
  `;
}

// Choice is a filter with a few values; choices maps each to its name.
/**
 * @param {{name: string, label: string, value?: string, choices: Record<string, string>, choose: Choose}} props
 */
export function Choice({ name, label, value = "", choices, choose }) {
  return html`
    <div class="field">
      <label for=${`filter-${name}`}>${label}</label>
      <select id=${`filter-${name}`} value=${value} onChange=${(event) => choose(name, event.target.value)}>
        <option value="" selected=${value === ""}>all</option>
        ${Object.entries(choices).map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
      </select>
    </div>
  `;
}

// RecordsEnd shows the button for older records. If there are no rows, it shows a text instead:
// unfitting if filters are set, otherwise none.
/** @param {{name: Kind, records: Records, none: string, unfitting: string}} props */
export function RecordsEnd({ name, records: { rows, more, busy, filters, problem }, none, unfitting }) {
  if (!rows) return problem ? null : html`<p class="more muted">Loading…</p>`;
  if (more) {
    return html`
      <p class="more">
        <button type="button" aria-disabled=${busy ? "true" : "false"} onClick=${() => loadMore(name)}>${busy ? "Loading…" : "Load older"}</button>
      </p>`;
  }
  if (rows.length > 0) return html`<p class="more muted">No older records.</p>`;
  return html`<p class="none muted">${Object.keys(filters).length > 0 ? unfitting : none}</p>`;
}
