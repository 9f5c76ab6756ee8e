// The journal's filters.

import { html } from "../vendor/htm-preact.js";
import { nouns } from "./penalty-words.js";
import { Choice, filter, RecordsFilters, Text } from "./records-filters.js";

const results = { done: "done", failed: "failed", skipped: "skipped", observed: "only observed", pending: "not known yet" };

export function JournalFilters({ state, journal }) {
  const { filters, limits } = journal;
  const choose = filter(state, "journal");
  const names = new Set([...limits, ...(filters.limit ? [filters.limit] : [])]); // it may be a former limit
  return html`
    <${RecordsFilters} label="Filter the journal" name="journal" records=${journal}>
      <${Text} name="user" label="User, login or ID" value=${filters.user} choose=${choose} />
      <${Choice} name="limit" label="Limit" value=${filters.limit} choices=${Object.fromEntries([...names].map((name) => [name, name]))} choose=${choose} />
      <${Choice} name="action" label="Action" value=${filters.action} choices=${nouns} choose=${choose} />
      <${Choice} name="result" label="Outcome" value=${filters.result} choices=${results} choose=${choose} />
      <label class="choice">
        <input id="only-failures" type="checkbox" checked=${filters.result === "failed"} onChange=${(event) => choose("result", event.target.checked ? "failed" : "")} />
        <span>Only failures</span>
      </label>
    <//>
  `;
}
