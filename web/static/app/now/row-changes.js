// @ts-check
// Changing a throttled user from their row: pardon, grant, exempt, reset. All except pardon first
// ask a question below the row.
//
// state.held.asks is the open question: "menu", "grant", "exempt" or "reset", or "answer" while an
// outcome is shown. state.changes contains each user's last outcome, by user ID.

import { request } from "../shell/api.js";
import { ifSignedOut } from "../shell/session.js";
import { nameOf, state, update } from "../shell/state.js";
import * as changes from "../people/changes.js";
import { heldRow, hold } from "./held-row.js";
/** @import { Outcome } from "../people/changes.js" */
/** @import { User } from "../shell/state.js" */

// controlID returns the ID of a control in a user's row, to focus it.
/** @param {string} user @param {string} control */
export const controlID = (user, control) => `${control}-of-${user}`;

// ask opens a question below a user's row, or closes it if it is open.
/** @param {User} user @param {number} index @param {string} asks */
export function ask(user, index, asks) {
  if (heldRow()?.id === user.user_id && state.held.asks === asks) return close();
  hold(user.user_id, index, "focus");
  forget(user.user_id);
  update((s) => {
    s.held = { ...s.held, asks, opener: ["menu", "answer"].includes(s.held.asks) ? s.held.opener : asks, card: null };
    s.focus = controlID(user.user_id, "first");
  });
  if (asks === "grant" || asks === "exempt") loadCard(user.user_id);
}

// close closes the open question, and returns the focus to the control that opened it. The outcome
// of a successful change stays in the row.
export function close() {
  const held = heldRow();
  if (!held?.asks) return;
  if (!state.changes[held.id]?.done) forget(held.id);
  closeQuestion(held.id);
}

/** @param {string} id */
function closeQuestion(id) {
  if (heldRow()?.id !== id || !state.held.asks) return;
  update((s) => {
    s.focus = controlID(id, s.held.opener);
    s.held = { ...s.held, asks: "" };
  });
}

/** @param {string} id */
async function loadCard(id) {
  try {
    const { body: card } = await request("GET", changes.userAddress(id));
    if (heldRow()?.id === id) update((s) => (s.held = { ...s.held, card }));
  } catch (problem) {
    if (!ifSignedOut(problem)) set(id, { problem: problem.message });
  }
}

/** @param {User} user @param {number} index */
export function pardon(user, index) {
  hold(user.user_id, index, "focus");
  change(user, (id) => changes.pardon(id));
}

/** @param {User} user @param {string} limit @param {number} messages */
export const grant = (user, limit, messages) => change(user, (id) => changes.grant(id, limit, messages));
/** @param {User} user @param {string} length */
export const exempt = (user, length) => change(user, (id) => changes.exempt(id, length));
/** @param {User} user */
export const reset = (user) => change(user, (id) => changes.reset(id));
/** @param {User} user */
export const undo = (user) => change(user, (id) => changes.undo(id, state.changes[id].undoing));

// change makes a change and shows its outcome in the row. Below the row, it also shows an outcome
// that needs to be read, can be undone or isn't saved.
/** @param {User} user @param {(id: string) => Promise<Outcome | null>} ask */
async function change(user, ask) {
  const { user_id: id } = user;
  if (state.changes[id]?.busy) return;
  const asked = ask(id);
  set(id, { busy: true });
  const outcome = await asked;
  if (!outcome) return;
  set(id, outcome);
  if (outcome.problem) {
    if (!state.held?.asks || state.held.asks === "menu") showAnswer(id);
    return;
  }
  update((s) => (s.announcement = `${nameOf(user)}: ${outcome.sentence}`));
  if (outcome.isSaved && !outcome.isToRead && !outcome.undoing) closeQuestion(id);
  else showAnswer(id);
}

/** @param {string} id */
function showAnswer(id) {
  if (heldRow()?.id !== id) return;
  update((s) => {
    s.held = { ...s.held, asks: "answer", opener: s.held.asks ? s.held.opener : "pardon" };
    s.focus = controlID(id, "first");
  });
}

// set stores a user's outcome, and drops the outcomes of users who are no longer in the state.
/** @param {string} id @param {Partial<Outcome>} known */
function set(id, known) {
  update((s) => {
    const kept = Object.entries(s.changes).filter(([other]) => s.users.has(other));
    s.changes = { ...Object.fromEntries(kept), [id]: changes.outcomeOf(known) };
  });
}

/** @param {string} id */
function forget(id) {
  update((s) => {
    const { [id]: _, ...others } = s.changes;
    s.changes = others;
  });
}
