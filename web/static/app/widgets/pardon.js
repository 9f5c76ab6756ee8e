// @ts-check
// Pardoning a throttled message: the button in its entry, and the outcome in the button's place.

import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { mayModerate, nameOf, state, update } from "../core/state.js";
import { stamp } from "../words/time.js";
/** @import { State } from "../core/state.js" */

/**
 * Pardoning is the outcome of pardoning an entry.
 * @typedef {object} Pardoning
 * @property {boolean} busy chatguard hasn't answered yet
 * @property {string} problem why chatguard refused
 * @property {boolean} saved a restart doesn't undo the pardon
 */

// PardonButton stays in place when pressed, so that it keeps the focus. Entries that were pardoned
// earlier have no button. zone is the time zone, by default the browser's.
/** @param {{state: State, entry: Api.Entry, zone?: string, then?: () => void}} props */
export function PardonButton({ state, entry, zone, then }) {
  const pardoned = state.pardons[entry.id];
  if (entry.pardoned && !pardoned) return html`<${Pardoned} note=${entry.pardoned} zone=${zone} />`;
  const isDone = pardoned && !pardoned.busy && !pardoned.problem;
  const name = nameOf(entry).slice(0, 50); // a hostile name may be long
  return html`
    <span class="pardon">
      ${mayModerate() && html`
        <button type="button" class="small" aria-disabled=${pardoned?.busy || isDone ? "true" : "false"}
          aria-label=${isDone ? null : `Pardon this message from ${name}`} onClick=${() => isDone || pardonEntry(entry.id, then)}>
          ${isDone ? "Pardoned" : "Pardon"}
        </button>`}
      <span role="status" class="answer">
        ${isDone && !pardoned.saved && html`<span class="warn">not saved yet</span>`}
        ${pardoned?.problem && html`<span class="bad" title=${pardoned.problem}>${pardoned.problem}</span>`}
      </span>
    </span>
  `;
}

/** @param {{note: {by: string, at: string}, zone?: string}} props */
function Pardoned({ note: { by, at }, zone }) {
  const when = stamp(Date.parse(at), zone);
  return html`<span class="pardon muted" title="by ${by}, ${when}">Pardoned<span class="unseen"> by <bdi>${by}</bdi>, ${when}</span></span>`;
}

// pardonEntry pardons an entry, and calls then after chatguard confirms.
/** @param {number} entry @param {() => void} [then] */
async function pardonEntry(entry, then = () => {}) {
  if (state.pardons[entry]?.busy) return;
  set(entry, { busy: true, problem: "", saved: true });
  try {
    const { body: { saved } } = await request("POST", `/journal/${entry}/pardon`);
    set(entry, { busy: false, problem: "", saved });
    then();
  } catch (problem) {
    if (!ifSignedOut(problem)) set(entry, { busy: false, problem: problem.message, saved: true });
  }
}

/** @param {number} entry @param {Pardoning} pardoned */
function set(entry, pardoned) {
  update((s) => (s.pardons = { ...s.pardons, [entry]: pardoned }));
}
