// The audit: who changed what when.

import { html, useEffect } from "../vendor/htm-preact.js";
import { actionNames, AuditWords } from "./audit-words.js";
import { open } from "./audit.js";
import { RecordsEnd } from "./records-end.js";
import { Choice, filter, RecordsFilters, Text } from "./records-filters.js";
import { linkTo } from "./route.js";
import { shownID } from "./state.js";
import { stamp } from "./time.js";

const columns = ["Time", "Who", "Did", "To whom", "What"];

export function AuditPage({ state }) {
  const { channel, query, audit } = state;
  useEffect(() => {
    open();
  }, [channel, query]);
  if (audit?.channel !== channel) return html`<h1 class="unseen">Audit</h1>`;
  const { filters, rows, problem } = audit;
  const choose = filter(state, "audit");
  return html`
    <h1 class="unseen">Audit</h1>
    <${RecordsFilters} label="Filter the audit" name="audit" records=${audit}>
      <${Text} name="author" label="Who changed it" value=${filters.author} choose=${choose} />
      <${Text} name="user" label="User, login or ID" value=${filters.user} choose=${choose} />
      <${Choice} name="action" label="Change" value=${filters.action} choices=${actionNames} choose=${choose} />
    <//>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${rows?.length > 0 && html`
      <div class="audits" role="table" aria-label="Changes, the newest first">
        <div role="row" class="head">${columns.map((name) => html`<span role="columnheader">${name}</span>`)}</div>
        ${rows.map((change) => html`<${Change} key=${change.id} state=${state} change=${change} />`)}
      </div>`}
    <${RecordsEnd} name="audit" records=${audit} none="Nobody has changed anything yet, as far back as chatguard remembers." unfitting="No change fits these filters." />
  `;
}

function Change({ state, change }) {
  const { at, author, action, user_id: user, login } = change;
  return html`
    <div role="row" class="audit">
      <time role="cell" class="when" datetime=${at}>${stamp(Date.parse(at))}</time>
      <span role="cell" class="author"><bdi>${author}</bdi></span>
      <span role="cell" class="did">${actionNames[action] ?? action}</span>
      <span role="cell" class="user">${user && html`<a href=${linkTo(state, "people", { user })}><span class="unit">user </span><bdi>${login || shownID(user)}</bdi></a>`}</span>
      <span role="cell" class="what"><${AuditWords} state=${state} change=${change} /></span>
    </div>
  `;
}
