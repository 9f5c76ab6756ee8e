// The entries of the journal, of which only those on the screen are drawn.

import { html } from "../vendor/htm-preact.js";
import { EntryRow } from "./entry-row.js";
import { useLazyRows } from "./lazy-rows.js";
import { mayModerate } from "./state.js";

export function JournalTable({ state, entries }) {
  const { body, first, count, height } = useLazyRows();
  const names = ["Time", "User", "Message", "Limit", "Done", ...(mayModerate() ? ["Pardon"] : [])];
  return html`
    <div class="entries" role="table" aria-label="Throttled messages, the newest first" aria-rowcount=${entries.length + 1}>
      <div role="row" class="head" aria-rowindex="1">${names.map((name) => html`<span role="columnheader">${name}</span>`)}</div>
      <div role="rowgroup" class="many" ref=${body} style=${{ height: entries.length * height + "px" }}>
        ${entries.slice(first, first + count).map((entry, i) => html`
          <${EntryRow} key=${entry.id} state=${state} entry=${entry} hasUser place=${first + i} style=${{ transform: `translateY(${(first + i) * height}px)` }} />
        `)}
      </div>
    </div>
  `;
}
