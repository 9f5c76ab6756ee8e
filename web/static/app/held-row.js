// The row of the table that somebody is at: with the pointer, with the keyboard, or with a question open. It stays where it is while the others
// move, so that nobody acts on a user whom they didn't mean, and it stays for as long even if its user may write again meanwhile.
//
// state.held is {channel, id, index, by, asks, opener, card}: id is the user's, index the row's, by is "pointer" or "focus". asks is the question that
// is open, empty without, opener the control that opened it, and card the user's, which some need; null until it is loaded, see amending.js.

import { state, update } from "./state.js";

// heldRow is the row held in the channel shown, if any.
export const heldRow = () => (state.held?.channel === state.channel ? state.held : null);

// hold keeps the row of a user where it is. Whatever comes last counts, only that the pointer takes nothing away from an open question.
export function hold(id, index, by) {
  const held = heldRow();
  if (by === "pointer" && (held?.asks || held?.id === id)) return;
  if (held?.id !== id) update((s) => (s.held = { channel: s.channel, id, index, by, asks: "", opener: "", card: null }));
  else if (held.by !== by) update((s) => (s.held = { ...held, by }));
}

// release lets the row go that is held by the pointer or the focus.
export function release(by) {
  if (state.held?.by === by) update((s) => (s.held = null));
}

// placed gives each user their row: [{user, index}]. known is the user of the held row.
export function placed(newestFirst, known) {
  const held = known && heldRow();
  const others = newestFirst.filter((user) => user.user_id !== held?.id);
  const rows = others.map((user, i) => ({ user, index: held && i >= held.index ? i + 1 : i }));
  if (held) rows.splice(held.index, 0, { user: known, index: held.index });
  return rows;
}
