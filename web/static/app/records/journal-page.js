// @ts-check
// The page Journal: the filters, and a table that draws only the rows on the screen.

import { t, table } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { linkTo, pages } from "../core/route.js";
import { mayHelp } from "../core/state.js";
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
  if (journal?.channel !== channel) return html`<${PageHead} title=${pages.journal} />`;
  return html`
    <${PageHead} title=${pages.journal} />
    <${JournalFilters} state=${state} journal=${journal} />
    ${journal.filters.entry && html`<p class="one-message muted">${t("records.one-message")} <a href=${linkTo(state, "journal")}>${t("records.all-messages")}</a></p>`}
    <${Fresh} journal=${journal} />
    ${journal.problem && html`<p class="error" role="alert">${journal.problem}</p>`}
    ${journal.rows?.length > 0 && html`<${JournalTable} state=${state} entries=${journal.rows} />`}
    <${RecordsEnd} name="journal" records=${journal} none=${t("records.no-messages")} unfitting=${t("records.no-message-matches")} />
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
      ${fresh.length > 0 && html`<button type="button" onClick=${show}>${isGap ? t("records.show-more-new", { n: fresh.length }) : t("records.show-new", { n: fresh.length })}</button>`}
    </div>
  `;
}

const results = table({
  done: "records.result-done", failed: "records.result-failed", unknown: "records.result-unknown", skipped: "records.result-skipped", observed: "records.result-observed", pending: "records.result-pending",
});

/** @param {{state: State, journal: Journal}} props */
function JournalFilters({ state, journal }) {
  const { filters, limits } = journal;
  const choose = filter(state, "journal");
  const names = new Set([...limits, ...(filters.limit ? [filters.limit] : [])]); // the limit may no longer exist
  return html`
    <${RecordsFilters} label=${t("records.filter-journal")} name="journal" records=${journal}>
      <${NameFilter} filters=${filters} choose=${choose} />
      <${Choice} name="limit" label=${t("now.limit")} value=${filters.limit} choices=${Object.fromEntries([...names].map((name) => [name, name]))} choose=${choose} />
      <${Choice} name="action" label=${t("now.column-action")} value=${filters.action} choices=${nouns} choose=${choose} />
      <${Choice} name="result" label=${t("records.result")} value=${filters.result} choices=${results} choose=${choose} />
      <label class="choice">
        <input id="only-failures" type="checkbox" checked=${filters.result === "failed"} onChange=${(event) => choose({ result: event.target.checked ? "failed" : "" })} />
        <span>${t("records.only-failures")}</span>
      </label>
    <//>
  `;
}

/** @param {{state: State, entries: Api.Entry[]}} props */
function JournalTable({ state, entries }) {
  const { body, first, count, height } = useLazyRows();
  const names = [t("records.time"), t("now.column-user"), t("now.column-message"), t("now.limit"), t("now.column-action"), ...(mayHelp() ? [t("now.pardon")] : [])];
  return html`
    <div class="entries" role="table" aria-label=${t("records.messages")} aria-rowcount=${entries.length + 1}>
      <div role="row" class="head" aria-rowindex="1">${names.map((name) => html`<span role="columnheader">${name}</span>`)}</div>
      <div role="rowgroup" class="many" ref=${body} style=${{ height: entries.length * height + "px" }}>
        ${entries.slice(first, first + count).map((entry, i) =>
          entryRow({ state, entry, hasUser: true, place: first + i, style: { transform: `translateY(${(first + i) * height}px)` } }))}
      </div>
    </div>
  `;
}
