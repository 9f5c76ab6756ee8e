// @ts-check
// The audit: who changed what, and when.

import { t, table } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { linkTo, pages } from "../core/route.js";
import { ifSignedOut } from "../core/session.js";
import { nameOf } from "../core/state.js";
import { Choice, filter, NameFilter, RecordsEnd, RecordsFilters, Text } from "./frame.js";
import { begin, change, loadMore } from "./records.js";
import { Icon } from "../widgets/icon.js";
import { PageHead } from "../widgets/page-head.js";
import { actionIcons, actionNames, AuditWords, changeName } from "../words/audit.js";
import { authorName } from "../words/author.js";
import { stamp } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { Records } from "./records.js" */

/** @typedef {Api.getChannelsPolicyRevisions["revisions"][number]} PastRevision */

/**
 * @typedef {Records & {revisions: Map<number, PastRevision | null>}} Audit
 *   revisions of the policy by number; null if there is none
 */

const columns = table({ time: "records.time", author: "records.author", change: "now.column-change", user: "now.column-user", details: "records.details" });

/** @param {{state: State}} props */
export function AuditPage({ state }) {
  const { channel, query, audit } = state;
  useEffect(() => {
    open();
  }, [channel, query]);
  useEffect(() => {
    if (audit?.channel === channel) loadRevisions(audit);
  }, [audit?.rows, audit?.revisions]);
  if (audit?.channel !== channel) return html`<${PageHead} title=${pages.audit} />`;
  const { filters, rows, problem } = audit;
  const choose = filter(state, "audit");
  return html`
    <${PageHead} title=${pages.audit} />
    <${RecordsFilters} label=${t("records.filter-audit")} name="audit" records=${audit}>
      <${Text} name="author" label=${t("records.author")} value=${filters.author} choose=${choose} />
      <${NameFilter} filters=${filters} choose=${choose} />
      <${Choice} name="action" label=${t("now.column-change")} value=${filters.action} choices=${actionNames} choose=${choose} />
    <//>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
    ${rows?.length > 0 && html`
      <div class="audits" role="table" aria-label=${t("records.changes")}>
        <div role="row" class="head">${Object.values(columns).map((name) => html`<span role="columnheader">${name}</span>`)}</div>
        ${rows.map((change) => html`<${Change} key=${change.id} state=${state} change=${change} />`)}
      </div>`}
    <${RecordsEnd} name="audit" records=${audit} none=${t("records.no-changes")} unfitting=${t("records.no-change-matches")} />
  `;
}

/** @param {{state: State, change: Api.Audit}} props */
function Change({ state, change }) {
  const { at, author, action, user_id: user } = change;
  return html`
    <div role="row" class="audit">
      <time role="cell" class="when" datetime=${at}>${stamp(Date.parse(at))}</time>
      <span role="cell" class="author"><bdi>${authorName(author)}</bdi></span>
      <span role="cell" class="did"><${Icon} name=${actionIcons[action] ?? "history"} />${changeName(change)}</span>
      <span role="cell" class="user">${user ? html`<a href=${linkTo(state, "people", { user })}><bdi>${nameOf(change)}</bdi></a>` : html`<span class="muted">${change.channel ? t("records.of-channel") : t("records.of-all")}</span>`}</span>
      <span role="cell" class="what"><${AuditWords} state=${state} change=${change} /></span>
    </div>
  `;
}

// open loads the newest changes that match the address bar's filters.
export async function open() {
  begin("audit", { revisions: new Map() });
  await loadMore("audit");
}

// loadRevisions fetches the newest revision that the rows name and that isn't known yet, together
// with those before it.
/** @param {Audit} audit */
async function loadRevisions(audit) {
  const wanted = Math.max(0, ...(audit.rows ?? []).map(({ detail }) => detail?.revision).filter((number) => number > 0 && !audit.revisions.has(number)));
  if (wanted === 0) return;
  const known = new Map(audit.revisions).set(wanted, null); // it may have been deleted
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(audit.channel)}/policy/revisions?before=${wanted + 1}`);
    for (const revision of body.revisions) known.set(revision.number, revision);
    change("audit", audit, { revisions: known });
  } catch (problem) {
    ifSignedOut(problem); // without revisions, a change of the limits shows only its number
  }
}
