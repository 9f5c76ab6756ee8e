// @ts-check
// The held row: the row of the table that has the pointer, the focus or an open question. It stays
// in place while the other rows move, so that a click can't reach the wrong user. It stays even
// after its user may write again.

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

/** @typedef {{user: User, index: number, isLeaving?: boolean}} Row */

// heldRow returns the held row if it belongs to the channel shown, otherwise null.
export const heldRow = () => (state.held?.channel === state.channel ? state.held : null);

// hold makes a user's row the held row, instead of any other. The pointer can't do that while a
// question is open.
/** @param {string} id @param {number} index @param {"pointer" | "focus"} by */
export function hold(id, index, by) {
  const held = heldRow();
  if (by === "pointer" && (held?.asks || held?.id === id)) return;
  if (held?.id !== id) update((s) => (s.held = { channel: s.channel, id, index, by, asks: "", opener: "", card: null, around: null }));
  else if (held.by !== by) update((s) => (s.held = { ...held, by }));
}

// release releases the held row if it is held by the given cause, the pointer or the focus.
/** @param {string} by */
export function release(by) {
  if (state.held?.by === by) update((s) => (s.held = null));
}

// placed assigns each user a row: [{user, index}]. known is the user of the held row.
/** @param {User[]} newestFirst @param {User | null} known */
export function placed(newestFirst, known) {
  const held = known && heldRow();
  const others = newestFirst.filter((user) => user.user_id !== held?.id);
  const rows = others.map((user, i) => ({ user, index: held && i >= held.index ? i + 1 : i }));
  if (held) rows.splice(held.index, 0, { user: known, index: held.index });
  return rows;
}
