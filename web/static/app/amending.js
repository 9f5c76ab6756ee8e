// Acting on a throttled user: pardon, grant, exempt, reset. All but the first ask a question, which stands below the user's row.
//
// The question is state.held.asks: "menu", "grant", "exempt", "reset", or "answer" for one that has to be read. state.amended has, by user ID,
// {busy, problem, done, sentence, isPartial, isHeld, isSaved, undoing, at}: busy while chatguard hasn't answered, problem what it refused, done what holds
// now in a few words, sentence the same in full where that takes more, isPartial and isHeld as in pardon-words.js, isSaved whether a restart leaves it so,
// undoing what undoes it, {former, etag} or {pardon, until}, null where nothing does, at when it answered, ms.

import * as amends from "./amends.js";
import { request } from "./api.js";
import { heldRow, hold } from "./held-row.js";
import { pardonWords, unpardonWords } from "./pardon-words.js";
import { ifSignedOut } from "./session.js";
import { now, shownID, state, update } from "./state.js";
import { toMinute } from "./time.js";

// controlID is the ID of a control of a user's row, which the focus can be sent to.
export const controlID = (user, control) => `${control}-of-${user}`;

export const nameOf = ({ display_name: shown, login, user_id: id }) => shown || login || shownID(id);

// ask opens a question below a user's row, or closes it where it is open.
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

// close closes the question that is open, and gives the focus back to what opened it. What was done stays to be seen in the row.
export function close() {
  const held = heldRow();
  if (!held?.asks) return;
  if (!state.amended[held.id]?.done) forget(held.id);
  closeQuestion(held.id);
}

function closeQuestion(id) {
  if (heldRow()?.id !== id || !state.held.asks) return;
  update((s) => {
    s.focus = controlID(id, s.held.opener);
    s.held = { ...s.held, asks: "" };
  });
}

async function loadCard(id) {
  try {
    const { body: card } = await request("GET", amends.userAddress(id));
    if (heldRow()?.id === id) update((s) => (s.held = { ...s.held, card }));
  } catch (problem) {
    if (!ifSignedOut(problem)) set(id, { problem: problem.message });
  }
}

export function pardon(user, index) {
  hold(user.user_id, index, "focus");
  amend(user, () => amends.pardonUser(user.user_id), pardonAnswer);
}

function pardonAnswer(answer) {
  const { word: done, ...words } = pardonWords(answer);
  return { done, ...words, undoing: answer.id ? { pardon: answer.id, until: answer.undo_until } : null };
}

export function grant(user, limit, messages) {
  amend(user, () => amends.grant(user.user_id, limit, messages), ({ until }) => ({ done: `${messages} granted` + ends(until) }));
}

export function exempt(user, length) {
  amend(user, () => amends.exempt(user.user_id, length), ({ until, former, override_etag: etag }) => ({
    done: "exempt" + (until ? ends(until) : " for good"), undoing: { former, etag },
  }));
}

// mayUndo reports whether the last change can be undone still.
export const mayUndo = ({ undoing }) => Boolean(undoing) && (!undoing.until || Date.parse(undoing.until) > now());

// undo undoes a pardon, or puts back what the user had of their own before the last change.
export function undo(user) {
  const { pardon: id, former, etag } = state.amended[user.user_id].undoing;
  if (id) amend(user, () => amends.unpardonUser(user.user_id, id), (answer) => ({ done: "pardon undone", sentence: unpardonWords(answer) }));
  else amend(user, () => amends.override(user.user_id, former, etag), () => ({ done: "undone" }));
}

export function reset(user) {
  amend(user, () => amends.reset(user.user_id), () => ({ done: "reset" }));
}

const ends = (until) => (until ? ` until ${toMinute(Date.parse(until))}` : "");

// amend sends a change, and says how it went: in the row where that is soon said, below it where it has to be read or can be undone.
async function amend(user, send, said) {
  const { user_id: id } = user;
  if (state.amended[id]?.busy) return;
  set(id, { busy: true });
  try {
    const answer = await send();
    const words = said(answer);
    const { saved: isSaved } = answer;
    set(id, { ...words, isSaved });
    update((s) => (s.announcement = `${nameOf(user)}: ${words.sentence ?? `${words.done}.`}`));
    if (isSaved && !words.sentence && !words.undoing) closeQuestion(id);
    else toRead(id);
  } catch (problem) {
    if (ifSignedOut(problem)) return;
    set(id, { problem: problem.message });
    if (!state.held?.asks || state.held.asks === "menu") toRead(id);
  }
}

function toRead(id) {
  if (heldRow()?.id !== id) return;
  update((s) => {
    s.held = { ...s.held, asks: "answer", opener: s.held.asks ? s.held.opener : "pardon" };
    s.focus = controlID(id, "first");
  });
}

// set keeps what is known of users who are gone no longer than anybody looks at them.
function set(id, { busy = false, problem = "", done = "", sentence = "", isPartial = false, isHeld = false, isSaved = true, undoing = null }) {
  update((s) => {
    const kept = Object.entries(s.amended).filter(([other]) => s.users.has(other));
    s.amended = { ...Object.fromEntries(kept), [id]: { busy, problem, done, sentence, isPartial, isHeld, isSaved, undoing, at: now() } };
  });
}

function forget(id) {
  update((s) => {
    const { [id]: _, ...others } = s.amended;
    s.amended = others;
  });
}
