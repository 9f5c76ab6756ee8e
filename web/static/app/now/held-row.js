// @ts-check
// The row of the table that has the pointer, the focus or an open question. It stays where it is
// while the others move, so that a click can't reach the wrong user. It stays even after its user
// may write again.

import { state, update } from "../shell/state.js";
/** @import { Card } from "../people/people.js" */
/** @import { User } from "../shell/state.js" */

/**
 * Held is the row held.
 * @typedef {object} Held
 * @property {string | null} channel
 * @property {string} id the user's
 * @property {number} index the row's
 * @property {"pointer" | "focus"} by
 * @property {string} asks the open question; empty without one. See row-changes.js
 * @property {string} opener the control that opened the question
 * @property {Card | null} card the user's, which some questions need; null until it is loaded
 */

/** @typedef {{user: User, index: number, isLeaving?: boolean}} Row */

// heldRow returns the row held in the channel shown, if any.
export const heldRow = () => (state.held?.channel === state.channel ? state.held : null);

// hold keeps a user's row in place, instead of any other. The pointer doesn't take over from an
// open question.
/** @param {string} id @param {number} index @param {"pointer" | "focus"} by */
export function hold(id, index, by) {
  const held = heldRow();
  if (by === "pointer" && (held?.asks || held?.id === id)) return;
  if (held?.id !== id) update((s) => (s.held = { channel: s.channel, id, index, by, asks: "", opener: "", card: null }));
  else if (held.by !== by) update((s) => (s.held = { ...held, by }));
}

// release releases the row if the pointer or the focus, as named, holds it.
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
