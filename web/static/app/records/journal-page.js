// @ts-check
// The page Journal: the filters, and a table that draws only the rows on the screen.

import { html, useEffect } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { mayModerate } from "../core/state.js";
import { Choice, filter, NameFilter, RecordsEnd, RecordsFilters } from "./frame.js";
import { look, open, showFresh } from "./journal.js";
import { EntryDialog } from "../widgets/entry-dialog.js";
import { entryRow } from "../widgets/entry-row.js";
import { useLazyRows } from "../widgets/lazy-rows.js";
import { PageHead } from "../widgets/page-head.js";
import { nouns } from "../words/penalties.js";
/** @import { State } from "../core/state.js" */
/** @import { Journal } from "./journal.js" */

const pause = 3000; // between two checks for new entries, ms

/** @param {{state: State}} props */
export function JournalPage({ state }) {
  const { channel, query, journal } = state;
  useEffect(() => {
    open();
  }, [channel, query]);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || look(), pause);
    return () => clearInterval(timer);
  }, []);
  if (journal?.channel !== channel) return html`<${PageHead} title="Journal" />`;
  return html`
    <${PageHead} title="Journal" />
    <${JournalFilters} state=${state} journal=${journal} />
    ${journal.filters.entry && html`<p class="one-message muted">A single message is shown. <a href=${linkTo(state, "journal")}>Show all messages</a></p>`}
    <${Fresh} journal=${journal} />
    ${journal.problem && html`<p class="error" role="alert">${journal.problem}</p>`}
    ${journal.rows?.length > 0 && html`<${JournalTable} state=${state} entries=${journal.rows} />`}
    <${RecordsEnd} name="journal" records=${journal} none="No throttled messages yet. Each one is listed here with what was done about it." unfitting="No throttled messages match these filters." />
    <${EntryDialog} state=${state} />
  `;
}

// Fresh is always drawn, because a screen reader announces changes only in elements that it knows.
/** @param {{journal: Journal}} props */
function Fresh({ journal: { fresh, isGap } }) {
  const show = () => {
    scrollTo(0, 0);
    showFresh();
  };
  return html`
    <div class="fresh" role="status">
      ${fresh.length > 0 && html`<button type="button" onClick=${show}>Show ${isGap ? `more than ${fresh.length}` : fresh.length} new</button>`}
    </div>
  `;
}

const results = { done: "done", failed: "failed", skipped: "skipped", observed: "observed only", pending: "pending" };

/** @param {{state: State, journal: Journal}} props */
function JournalFilters({ state, journal }) {
  const { filters, limits } = journal;
  const choose = filter(state, "journal");
  const names = new Set([...limits, ...(filters.limit ? [filters.limit] : [])]); // the limit may no longer exist
  return html`
    <${RecordsFilters} label="Filter the journal" name="journal" records=${journal}>
      <${NameFilter} filters=${filters} choose=${choose} />
      <${Choice} name="limit" label="Limit" value=${filters.limit} choices=${Object.fromEntries([...names].map((name) => [name, name]))} choose=${choose} />
      <${Choice} name="action" label="Action" value=${filters.action} choices=${nouns} choose=${choose} />
      <${Choice} name="result" label="Outcome" value=${filters.result} choices=${results} choose=${choose} />
      <label class="choice">
        <input id="only-failures" type="checkbox" checked=${filters.result === "failed"} onChange=${(event) => choose({ result: event.target.checked ? "failed" : "" })} />
        <span>Only failures</span>
      </label>
    <//>
  `;
}

/** @param {{state: State, entries: Api.Entry[]}} props */
function JournalTable({ state, entries }) {
  const { body, first, count, height } = useLazyRows();
  const names = ["Time", "User", "Message", "Limit", "Action", ...(mayModerate() ? ["Pardon"] : [])];
  return html`
    <div class="entries" role="table" aria-label="Throttled messages, newest first" aria-rowcount=${entries.length + 1}>
      <div role="row" class="head" aria-rowindex="1">${names.map((name) => html`<span role="columnheader">${name}</span>`)}</div>
      <div role="rowgroup" class="many" ref=${body} style=${{ height: entries.length * height + "px" }}>
        ${entries.slice(first, first + count).map((entry, i) =>
          entryRow({ state, entry, hasUser: true, place: first + i, style: { transform: `translateY(${(first + i) * height}px)` } }))}
      </div>
    </div>
  `;
}
