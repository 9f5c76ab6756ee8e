// @ts-check
// Pardoning a throttled message: the button in the message's entry, and the outcome with its undo,
// which replace the button.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { mayHelp, nameOf, now, state, update } from "../core/state.js";
import { authorName } from "../words/author.js";
import { stamp } from "../words/time.js";
/** @import { State } from "../core/state.js" */

/**
 * Pardoning is the outcome of pardoning an entry.
 * @typedef {object} Pardoning
 * @property {boolean} busy chatguard hasn't answered yet
 * @property {string} problem why chatguard refused
 * @property {boolean} saved a restart doesn't undo the pardon
 * @property {number} pardon the pardon's ID; 0 if the entry isn't pardoned, or if the pardon can't
 *   be undone
 * @property {number} until when it can no longer be undone, ms
 * @property {boolean} isUndone the pardon was undone
 */

// PardonButton is one button for pardon and undo, so that it keeps the focus. Entries that were
// pardoned earlier have no button.
/** @param {{state: State, entry: Api.Entry, then?: () => void}} props */
export function PardonButton({ state, entry, then }) {
  const pardoned = state.pardons[entry.id];
  if (entry.pardoned && !pardoned) return html`<${Pardoned} note=${entry.pardoned} />`;
  const isPardoned = Boolean(pardoned) && !pardoned.isUndone && !pardoned.busy && !pardoned.problem;
  const isDone = isPardoned || pardoned?.pardon > 0; // it stays pardoned until chatguard confirms the undo
  const mayUndo = isDone && pardoned.pardon > 0 && pardoned.until > now();
  const name = nameOf(entry).slice(0, 50); // a hostile name may be long
  const about = mayUndo ? t("entries.undo-of", { who: name }) : isDone ? null : t("entries.pardon-of", { who: name });
  const press = () => (mayUndo ? unpardonEntry(entry, then) : isDone || pardonEntry(entry.id, then));
  return html`
    <span class="pardon">
      ${mayHelp() && html`
        <button type="button" class="small" aria-disabled=${pardoned?.busy || (isDone && !mayUndo) ? "true" : "false"} aria-label=${about} onClick=${press}>
          ${mayUndo ? t("entries.undo") : isDone ? t("entries.pardoned") : t("entries.pardon")}
        </button>`}
      <span role="status" class="answer">
        ${mayUndo && html`<span class="muted">${t("entries.pardoned")}</span>`}
        ${isDone && !pardoned.saved && html` <span class="warn">${t("entries.unsaved")}</span>`}
        ${pardoned?.problem && html`<span class="bad" title=${pardoned.problem}>${pardoned.problem}</span>`}
      </span>
    </span>
  `;
}

/** @typedef {{by: string, at: string}} Note who has pardoned an entry, and when */

/** @param {{note: Note}} props */
function Pardoned({ note }) {
  const title = t("entries.pardoned-by", { by: authorName(note.by), time: stamp(Date.parse(note.at)) });
  return html`<span class="pardon muted" title=${title}>${t("entries.pardoned")}<span class="unseen"> ${pardonedBy(note)}</span></span>`;
}

// pardonedBy says who has pardoned an entry, and when.
/** @param {Note} note */
export const pardonedBy = ({ by, at }) => rich("entries.pardoned-by", { by: html`<bdi>${authorName(by)}</bdi>`, time: stamp(Date.parse(at)) });

/** @type {Pardoning} */
const unpressed = { busy: false, problem: "", saved: true, pardon: 0, until: 0, isUndone: false };

// pardonEntry pardons an entry, and calls then after chatguard confirms.
/** @param {number} entry @param {() => void} [then] */
function pardonEntry(entry, then) {
  return press(entry, unpressed, "POST", `/journal/${entry}/pardon`, then, ({ saved, pardon = 0, undo_until: until }) => ({
    ...unpressed, saved, pardon, until: Date.parse(until ?? "") || 0,
  }));
}

// unpardonEntry undoes the pardon of an entry.
/** @param {Api.Entry} entry @param {() => void} [then] */
function unpardonEntry({ id, channel, user_id: user }, then) {
  const before = state.pardons[id];
  const address = `/channels/${encodeURIComponent(channel)}/users/${encodeURIComponent(user)}/pardon/${before.pardon}`;
  return press(id, before, "DELETE", address, then, ({ saved }) => ({ ...unpressed, saved, isUndone: true }));
}

// press sends a request about an entry, and stores the outcome. If chatguard refuses, the entry
// stays as before.
/**
 * @param {number} entry
 * @param {Pardoning} before
 * @param {string} method
 * @param {string} address
 * @param {(() => void) | undefined} then
 * @param {(answer: any) => Pardoning} said
 */
async function press(entry, before, method, address, then, said) {
  if (state.pardons[entry]?.busy) return;
  set(entry, { ...before, problem: "", busy: true });
  try {
    const { body } = await request(method, address);
    set(entry, said(body));
    then?.();
  } catch (problem) {
    if (!ifSignedOut(problem)) set(entry, { ...before, busy: false, problem: problem.message });
  }
}

/** @param {number} entry @param {Pardoning} pardoned */
function set(entry, pardoned) {
  update((s) => (s.pardons = { ...s.pardons, [entry]: pardoned }));
}
