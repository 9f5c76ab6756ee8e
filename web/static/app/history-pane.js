// Earlier limits, one click away each, and what differs from the configuration file. It is fetched once somebody opens it.

import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { ChangeList } from "./change-words.js";
import { isDirty } from "./draft.js";
import { copyExport, exportAddress, loadHistory } from "./history.js";
import { revert } from "./policy.js";
import { configured } from "./state.js";
import { clock } from "./time.js";

const fewest = 10; // revisions shown at first

export function HistoryPane({ state, mayEdit }) {
  const [isOpen, setOpen] = useState(false);
  const { form, history } = state;
  useEffect(() => {
    if (isOpen && !form.busy) loadHistory();
  }, [isOpen, form.etag, form.made]);
  return html`
    <details class="history" open=${isOpen} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>History, and the ${configured().name}</summary>
      ${isOpen && html`
        ${history?.problem && html`<p class="error" role="alert">${history.problem}</p>`}
        ${!history && html`<p class="muted">Loading…</p>`}
        ${history?.revisions && html`<${Revisions} history=${history} form=${form} mayEdit=${mayEdit} />`}
        ${history?.differences && html`<${File} history=${history} form=${form} mayEdit=${mayEdit} />`}`}
    </details>
  `;
}

function Revisions({ history: { revisions }, form, mayEdit }) {
  const [all, setAll] = useState(false);
  if (revisions.length === 0) return html`<p class="muted">Nobody has changed these limits: they are as in the ${configured().name}.</p>`;
  const shown = all ? revisions : revisions.slice(0, fewest);
  const mayGo = mayEdit && !isDirty(form);
  return html`
    ${mayEdit && !mayGo && html`<p class="muted">Save or discard your changes, then you can go back.</p>`}
    <ol class="revisions">${shown.map((revision, i) => html`<${Revision} key=${revision.number} revision=${revision} isLast=${i === 0} mayGo=${mayGo} />`)}</ol>
    ${shown.length < revisions.length && html`<button type="button" class="quiet" onClick=${() => setAll(true)}>Show all ${revisions.length}</button>`}
  `;
}

function Revision({ revision: { number, author, at, difference, discarded, saved }, isLast, mayGo }) {
  return html`
    <li>
      <div>
        <p>
          <strong>${number}</strong> <bdi>${author}</bdi> <time class="muted" datetime=${at}>${clock(Date.parse(at))}</time>
          ${isLast && html` <span class="state good">in force</span>`}${saved === false && html` <span class="state warn">not saved yet</span>`}
        </p>
        ${discarded && html`<p class="muted">Back to the ${configured().name}.</p>`}
        ${difference?.length > 0 ? html`<${ChangeList} changes=${difference} />` : !discarded && html`<p class="muted">The same as before.</p>`}
      </div>
      ${mayGo && !isLast && html`<button type="button" aria-label=${`Go back to ${number}`} onClick=${() => revert(number)}>Go back to this</button>`}
    </li>
  `;
}

// File says what has been changed over the configuration file, and offers the limits in force as such a file.
function File({ history: { differences, copied }, form, mayEdit }) {
  const mayGo = mayEdit && differences.length > 0 && !isDirty(form);
  return html`
    <h2>Against the ${configured().name}</h2>
    ${differences.length === 0
      ? html`<p class="muted">The limits in force are those of the ${configured().name}.</p>`
      : html`<p class="muted">In the ${configured().short} → now:</p><${ChangeList} changes=${differences} />`}
    <div class="buttons">
      ${mayGo && html`<button type="button" class="to-file" onClick=${() => revert(0)}>Go back to the ${configured().short}’s</button>`}
      <a href=${exportAddress()} download>Export as TOML</a>
      <button type="button" class="quiet" onClick=${copyExport}>Copy</button>
      <span role="status" class="muted">${copied}</span>
    </div>
  `;
}
