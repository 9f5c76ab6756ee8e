// @ts-check
// Changing a user from their row: pardon, timeout, ban, lift, grant, exempt, reset. A pardon and a
// timeout of a usual length act at once. All others first ask a question below the row.
//
// state.held.asks is the open question: "menu", "timeout", "ban", "lift", "grant", "exempt" or
// "reset", "around" while the messages around are shown, or "answer" while an outcome is shown.

import { t } from "../../text/text.js";
import * as changes from "../changes/user.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { nameOf, state, timeoutsHere, update } from "../core/state.js";
import { heldRow, hold } from "./held-row.js";
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
  if (!state.changes[user.user_id]?.done) changes.forget(user.user_id);
  update((s) => {
    s.held = { ...s.held, asks, opener: ["menu", "answer"].includes(s.held.asks) ? s.held.opener : asks, card: null, around: null };
    s.focus = controlID(user.user_id, "first");
  });
  if (["grant", "exempt"].includes(asks)) loadCard(user.user_id);
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

// pardon and timeOutUsually act at once.
/** @param {User} user @param {number} index */
export function pardon(user, index) {
  begin(user, index, "pardon");
  show(user, changes.pardon(user.user_id));
}

/** @param {User} user @param {number} index @param {string} length */
export function timeOutUsually(user, index, length) {
  begin(user, index, "timeout");
  timeOut(user, length, timeoutsHere().reason);
}

/** @param {User} user @param {number} index @param {string} opener */
function begin(user, index, opener) {
  hold(user.user_id, index, "focus");
  if (!state.held.asks) update((s) => (s.held = { ...s.held, opener }));
}

/** @param {User} user @param {string} limit @param {string} messages */
export function grant(user, limit, messages) {
  if (!/^[1-9]\d*$/.test(messages.trim())) return changes.fail(user.user_id, t("now.wrong-count"));
  return show(user, changes.grant(user.user_id, limit, Number(messages)));
}
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
  update((s) => (s.announcement = `${nameOf(user)}: ${changes.noticeOf(outcome, s.status?.database)}`));
  if (outcome.isSaved && !outcome.isToRead && !outcome.undoing) closeQuestion(id);
  else showAnswer(id);
}

/** @param {string} id */
function showAnswer(id) {
  if (heldRow()?.id !== id) return;
  update((s) => {
    s.held = { ...s.held, asks: "answer" };
    s.focus = controlID(id, "first");
  });
}
