// @ts-check
// The history of the channel's limits, and their differences from the configuration file. The
// moderator can restore either. Both are fetched when the moderator opens this part of the page.

import { t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
import { isDirty } from "./draft.js";
import { policyAddress, revert } from "./form.js";
import { originText } from "./origin.js";
import { authorName } from "../words/author.js";
import { ChangeList } from "../words/changes.js";
import { clock } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { Form } from "./form.js" */

/** @typedef {Api.getChannelsPolicyRevisions["revisions"][number]} PastRevision */

/**
 * @typedef {object} History
 * @property {string} [etag] of the policy in force when the history was fetched
 * @property {PastRevision[]} [revisions]
 * @property {boolean} [more] there are older revisions
 * @property {Api.Change[]} [differences]
 * @property {string} problem
 * @property {string} copied
 */

const asked = inOrder(); // to ignore outdated answers
const fewest = 10; // revisions shown at first

// loadHistory fetches the newest revisions and the differences from the file. With oldest, it
// fetches the revisions before that one, and adds them.
/** @param {PastRevision} [oldest] */
async function loadHistory(oldest) {
  const { channel, form } = state;
  const isNews = asked();
  /** @param {Partial<History>} history */
  const keep = (history) => isNews() && channel === state.channel && update((s) => (s.history = { ...s.history, problem: "", copied: "", ...history }));
  try {
    const { body } = await request("GET", `${policyAddress()}/revisions?${oldest ? `before=${oldest.number}` : `n=${fewest}`}`);
    if (oldest) return keep({ revisions: [...state.history.revisions, ...body.revisions], more: body.more });
    const file = await request("GET", policyAddress() + "/differences");
    keep({ etag: form.etag, revisions: body.revisions, more: body.more, differences: file.body.changes });
  } catch (problem) {
    if (!ifSignedOut(problem)) keep({ problem: problem.message });
  }
}

// exportAddress returns the address of the limits in force as a file.
const exportAddress = () => `api/v1${policyAddress()}/export`;

// copyExport copies the text of the exported file to the clipboard.
async function copyExport() {
  /** @param {string} copied */
  const say = (copied) => update((s) => (s.history = { ...s.history, copied }));
  try {
    const answer = await fetch(exportAddress());
    if (!answer.ok) throw new Error(answer.statusText);
    await navigator.clipboard.writeText(await answer.text());
    say(t("limits.copied"));
  } catch {
    say(t("limits.not-copied")); // browsers require a secure connection
  }
}

/** @param {{state: State, mayEdit: boolean}} props */
export function HistoryPane({ state, mayEdit }) {
  const [isOpen, setOpen] = useState(false);
  const { form, history } = state;
  useEffect(() => {
    if (isOpen && !form.busy) loadHistory();
  }, [isOpen, form.etag, form.made]);
  return html`
    <details class="history" open=${isOpen} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>${originText("limits.history-file", "limits.history-code")}</summary>
      ${isOpen && html`
        ${history?.problem && html`<p class="error" role="alert">${history.problem}</p>`}
        ${!history && html`<p class="muted">${t("limits.loading-history")}</p>`}
        ${history?.revisions && html`<${Revisions} history=${history} form=${form} mayEdit=${mayEdit} />`}
        ${history?.differences && html`<${File} history=${history} form=${form} mayEdit=${mayEdit} />`}`}
    </details>
  `;
}

/** @param {{history: History, form: Form, mayEdit: boolean}} props */
function Revisions({ history: { revisions, more }, form, mayEdit }) {
  if (revisions.length === 0) return html`<p class="muted">${originText("limits.unchanged-file", "limits.unchanged-code")}</p>`;
  const mayGo = mayEdit && !isDirty(form);
  return html`
    ${mayEdit && !mayGo && html`<p class="muted">${t("limits.restore-later")}</p>`}
    <ol class="revisions">${revisions.map((revision, i) => html`<${Revision} key=${revision.number} revision=${revision} isLast=${i === 0} mayGo=${mayGo} />`)}</ol>
    ${more && html`<button type="button" class="quiet" onClick=${() => loadHistory(revisions.at(-1))}>${t("limits.load-older")}</button>`}
  `;
}

/** @param {{revision: PastRevision, isLast: boolean, mayGo: boolean}} props */
function Revision({ revision: { number, author, at, difference, discarded, saved, unreadable }, isLast, mayGo }) {
  return html`
    <li>
      <div>
        <p>
          <strong>${number}</strong> <bdi>${authorName(author)}</bdi> <time class="muted" datetime=${at}>${clock(Date.parse(at))}</time>
          ${isLast && html` <span class="state good">${t("limits.in-force")}</span>`}${saved === false && html` <span class="state warn">${t("limits.unsaved")}</span>`}
        </p>
        ${discarded && html`<p class="muted">${originText("limits.restored-file", "limits.restored-code")}</p>`}
        ${unreadable && html`<p class="muted">${t("limits.unreadable")}</p>`}
        ${difference?.length > 0 ? html`<${ChangeList} changes=${difference} />` : !discarded && !unreadable && html`<p class="muted">${t("limits.no-difference")}</p>`}
      </div>
      ${mayGo && !isLast && !unreadable && html`<button type="button" aria-label=${t("limits.restore-revision", { number: String(number) })} onClick=${() => revert(number)}>${t("limits.restore")}</button>`}
    </li>
  `;
}

// File lists the differences from the configuration file, and exports the limits in force.
/** @param {{history: History, form: Form, mayEdit: boolean}} props */
function File({ history: { differences, copied }, form, mayEdit }) {
  const mayGo = mayEdit && differences.length > 0 && !isDirty(form);
  return html`
    <h2>${originText("limits.compared-file", "limits.compared-code")}</h2>
    ${differences.length === 0
      ? html`<p class="muted">${t("limits.no-differences")}</p>`
      : html`<p class="muted">${originText("limits.values-file", "limits.values-code")}</p><${ChangeList} changes=${differences} />`}
    <div class="buttons">
      ${mayGo && html`<button type="button" class="to-file" onClick=${() => revert(0)}>${originText("limits.restore-file", "limits.restore-code")}</button>`}
      <a href=${exportAddress()} download>${t("limits.export")}</a>
      <button type="button" class="quiet" onClick=${copyExport}>${t("limits.copy")}</button>
      <span role="status" class="muted">${copied}</span>
    </div>
  `;
}
