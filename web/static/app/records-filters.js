// Filters of journal and audit. They stand in the address bar, so that they can be sent to somebody, and be left with the browser's button.

import { html, useLayoutEffect, useState } from "../vendor/htm-preact.js";
import { csvAddress, filtersOf } from "./records.js";
import { linkTo, parse } from "./route.js";

// RecordsFilters has the fields given it, and the way to take what they leave elsewhere.
export function RecordsFilters({ label, name, records, children }) {
  return html`
    <form class="filters" role="search" aria-label=${label} onSubmit=${(event) => event.preventDefault()}>
      ${children}
      <a class="export" href=${csvAddress(name, records)} download>Export as CSV</a>
    </form>
  `;
}

// filter returns what sets one of a page's filters, beside those that the address bar has by then.
export const filter = (state, page) => (name, value) => {
  location.hash = linkTo(state, page, filtersOf(page, { ...parse(location.hash).query, [name]: value }));
};

// Text is a filter that is written; it is taken when that is done.
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

// Choice is a filter with a few values: {value: its name}.
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
