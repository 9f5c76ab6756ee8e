// What stands below a list of records: the button for older ones, or that there are none.

import { html } from "../vendor/htm-preact.js";
import { loadMore } from "./records.js";

// RecordsEnd is given what is said where there are no rows at all: none, and unfitting where that is because of the filters.
export function RecordsEnd({ name, records: { rows, more, busy, filters, problem }, none, unfitting }) {
  if (!rows) return problem ? null : html`<p class="more muted">Loading…</p>`;
  if (more) {
    return html`
      <p class="more">
        <button type="button" aria-disabled=${busy ? "true" : "false"} onClick=${() => loadMore(name)}>${busy ? "Loading…" : "Load older ones"}</button>
      </p>`;
  }
  if (rows.length > 0) return html`<p class="more muted">That is all, as far back as chatguard remembers.</p>`;
  return html`<p class="none muted">${Object.keys(filters).length > 0 ? unfitting : none}</p>`;
}
