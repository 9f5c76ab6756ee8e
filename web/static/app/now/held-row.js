// @ts-check
// The held row: the row of the table that has the pointer, the focus or an open question. It stays
// in place while the other rows move, so that a click can't reach the wrong user. It stays even
// after its user may write again. While the held row has an open question, the row under the
// pointer stays in place, too.

import { state, update } from "../core/state.js";
/** @import { User } from "../core/state.js" */

/**
 * Held is the held row.
 * @typedef {object} Held
 * @property {string | null} channel
 * @property {string} id the user's ID
 * @property {number} index the row's index
 * @property {"pointer" | "focus"} by
 * @property {string} asks the open question, as in question.js; empty if none is open
 * @property {string} opener the control that opened the question
 * @property {Api.getChannelsUsers | null} card the user's card, which some questions need; null
 *   until it is loaded
 * @property {Api.Said[] | null} around the messages around the user's; null until they are loaded
 */

/** @typedef {{channel: string | null, id: string, index: number}} Pointed */
/** @typedef {{user: User, index: number, isLeaving?: boolean}} Row */

// heldRow returns the held row if it belongs to the channel shown, otherwise null.
export const heldRow = () => (state.held?.channel === state.channel ? state.held : null);

// fixedRows returns the rows that stay in place: the held row, and the one under the pointer.
export function fixedRows() {
  const held = heldRow(), { pointed, channel } = state;
  return [held, pointed?.channel === channel && pointed.id !== held?.id ? pointed : null].filter(Boolean);
}

// hold makes a user's row the held row, instead of any other. While another row has an open
// question, the pointer only keeps the row in place.
/** @param {string} id @param {number} index @param {"pointer" | "focus"} by */
export function hold(id, index, by) {
  const held = heldRow();
  if (by === "pointer" && held?.asks) return point(held.id === id ? null : { channel: state.channel, id, index });
  point(null);
  if (by === "pointer" && held?.id === id) return;
  if (held?.id !== id) update((s) => (s.held = { channel: s.channel, id, index, by, asks: "", opener: "", card: null, around: null }));
  else if (held.by !== by) update((s) => (s.held = { ...held, by }));
}

/** @param {Pointed | null} pointed */
function point(pointed) {
  if (state.pointed?.id !== pointed?.id) update((s) => (s.pointed = pointed));
}

// release releases the held row if it is held by the given cause, the pointer or the focus.
/** @param {string} by */
export function release(by) {
  if (by === "pointer") point(null);
  if (state.held?.by === by) update((s) => (s.held = null));
}

// placed assigns each user a row: [{user, index}]. fixed are the rows that stay in place.
/** @param {User[]} newestFirst @param {Row[]} fixed */
export function placed(newestFirst, fixed) {
  const ids = new Set(fixed.map(({ user }) => user.user_id)), taken = new Set(fixed.map(({ index }) => index));
  const rows = [...fixed];
  let index = 0;
  for (const user of newestFirst) {
    if (ids.has(user.user_id)) continue;
    while (taken.has(index)) index++;
    rows.push({ user, index: index++ });
  }
  return rows.sort((a, b) => a.index - b.index);
}
