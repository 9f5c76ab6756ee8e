// @ts-check
// Changing a throttled user from their row: pardon, timeout, ban, lift, grant, exempt, reset. All
// except pardon first ask a question below the row.
//
// state.held.asks is the open question: "menu", "timeout", "ban", "lift", "grant", "exempt" or
// "reset", "around" while the messages around are shown, or "answer" while an outcome is shown.

import * as changes from "../changes/user.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { asOf, nameOf, state, update } from "../core/state.js";
import { heldRow, hold } from "./held-row.js";
import { seconds } from "../words/time.js";
/** @import { Outcome } from "../changes/user.js" */
/** @import { User } from "../core/state.js" */

// controlID returns the ID of a control in a user's row, to focus it.
/** @param {string} user @param {string} control */
export const controlID = (user, control) => `${control}-of-${user}`;

// ask opens a question below a user's row, or closes it if it is open.
/** @param {User} user @param {number} index @param {string} asks */
export function ask(user, index, asks) {
  if (heldRow()?.id === user.user_id && state.held.asks === asks) return close();
  hold(user.user_id, index, "focus");
  changes.forget(user.user_id);
  update((s) => {
    s.held = { ...s.held, asks, opener: ["menu", "answer"].includes(s.held.asks) ? s.held.opener : asks, card: null, around: null };
    s.focus = controlID(user.user_id, "first");
  });
  if (["grant", "exempt", "lift"].includes(asks)) loadCard(user.user_id);
  if (asks === "around") loadAround(user);
}

// close closes the open question, and returns the focus to the control that opened it. The outcome
// of a successful change stays in the row.
export function close() {
  const held = heldRow();
  if (!held?.asks) return;
  if (!state.changes[held.id]?.done) changes.forget(held.id);
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
    if (!ifSignedOut(problem)) changes.fail(id, problem.message);
  }
}

// loadAround loads the messages around the user's last throttled one.
/** @param {User} user */
async function loadAround({ user_id: id, outcome: { entry } }) {
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(state.channel)}/messages?entry=${entry}`);
    if (heldRow()?.id === id) update((s) => (s.held = { ...s.held, around: body.messages }));
  } catch (problem) {
    if (!ifSignedOut(problem)) changes.fail(id, problem.message);
  }
}

/** @param {User} user @param {number} index */
export function pardon(user, index) {
  hold(user.user_id, index, "focus");
  show(user, changes.pardon(user.user_id));
}

/** @param {User} user @param {string} limit @param {number} messages */
export const grant = (user, limit, messages) => show(user, changes.grant(user.user_id, limit, messages));
/** @param {User} user @param {string} length */
export const exempt = (user, length) => show(user, changes.exempt(user.user_id, length));
/** @param {User} user @param {string} length @param {string} reason @param {boolean} [isConfirmed] */
export const timeOut = (user, length, reason, isConfirmed = false) => show(user, changes.timeOut(user.user_id, length, reason, isConfirmed));
/** @param {User} user @param {string} reason */
export const ban = (user, reason) => show(user, changes.ban(user.user_id, reason));
/** @param {User} user @param {"timeout" | "ban"} what */
export const lift = (user, what) => show(user, changes.lift(user.user_id, what));
/** @param {User} user */
export const reset = (user) => show(user, changes.reset(user.user_id));
/** @param {User} user */
export const undo = (user) => show(user, changes.undo(user.user_id, state.changes[user.user_id].undoing));

// silencedAs returns "timeout" or "ban" if the row says that its user is timed out or banned, by
// the last change of a moderator or by chatguard; otherwise "".
/** @param {User} user */
export function silencedAs({ user_id: id, penalty, outcome: { action, result, at: since }, at, until }) {
  const change = state.changes[id];
  if (change?.done && change.at >= Date.parse(at)) return change.undoing?.lift ?? "";
  if (result !== "done") return "";
  const [, length] = penalty.split(" ");
  const lasts = length ? seconds(length) * 1000 : Infinity; // another than the penalty's is unknown
  const ends = length === "refill" ? until : Date.parse(since) + lasts;
  return action === "ban" || (action === "timeout" && asOf() < ends) ? action : "";
}

// show announces the outcome of a change. Below the row, it shows an outcome that needs to be read,
// can be undone or isn't saved.
/** @param {User} user @param {Promise<Outcome | null>} asked */
async function show(user, asked) {
  const { user_id: id } = user;
  const outcome = await asked;
  if (!outcome) return;
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
