// The journal: what was done to whom, how that went, and what failed.

import { html, useEffect } from "../vendor/htm-preact.js";
import { EntryDialog } from "./entry-dialog.js";
import { JournalFilters } from "./journal-filters.js";
import { JournalTable } from "./journal-table.js";
import { look, open, showFresh } from "./journal.js";
import { RecordsEnd } from "./records-end.js";

const pause = 3000; // what has come since is looked for so often, ms

export function JournalPage({ state }) {
  const { channel, query, journal } = state;
  useEffect(() => {
    open();
  }, [channel, query]);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || look(), pause);
    return () => clearInterval(timer);
  }, []);
  if (journal?.channel !== channel) return html`<h1 class="unseen">Journal</h1>`;
  return html`
    <h1 class="unseen">Journal</h1>
    <${JournalFilters} state=${state} journal=${journal} />
    <${Fresh} journal=${journal} />
    ${journal.problem && html`<p class="error" role="alert">${journal.problem}</p>`}
    ${journal.rows?.length > 0 && html`<${JournalTable} state=${state} entries=${journal.rows} />`}
    <${RecordsEnd} name="journal" records=${journal} none="No message was throttled, as far back as chatguard remembers." unfitting="No throttled message fits these filters." />
    <${EntryDialog} state=${state} />
  `;
}

// Fresh is there always: a screen reader hears only of what changes in a place that it knows.
function Fresh({ journal: { fresh, isGap } }) {
  const show = () => {
    scrollTo(0, 0);
    showFresh();
  };
  return html`
    <div class="fresh" role="status">
      ${fresh.length > 0 && html`<button type="button" onClick=${show}>${isGap ? `More than ${fresh.length}` : fresh.length} new: show</button>`}
    </div>
  `;
}
