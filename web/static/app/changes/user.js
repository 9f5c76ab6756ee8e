// @ts-check
// Changes to a single user: grant, exempt, reset, pardon, override, timeout, ban and undo. Each
// function sends a request, stores its outcome and returns it. The outcome is null if another
// change of the user is pending, if the session has ended, or if another channel is shown by then.
//
// state.changes contains the outcome of each user's last change, by user ID. All pages show it.

import { sentences, t } from "../../text/text.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { now, state, update, waitsWithSame } from "../core/state.js";
import { pardonWords, unpardonWords } from "../words/pardons.js";
import { durationText, parseLength } from "../words/lengths.js";
import { isAcrossChannels, isShared } from "../words/scopes.js";
import { banWords, conflictWords, liftWords, timeoutWords, undoWords } from "../words/silence.js";
import { clock, toMinute, upcoming, wait } from "../words/time.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { Mistake } from "../core/api.js" */
/** @import { Database } from "../core/state.js" */

/**
 * Outcome is the state of the last change of a user. While a change is pending, the texts are those
 * of the change before it.
 * @typedef {object} Outcome
 * @property {boolean} busy chatguard hasn't answered yet
 * @property {string} problem why chatguard refused the change
 * @property {Mistake | null} mistake the value that chatguard refused, if it is known
 * @property {boolean} isUnsent nothing was sent, for the reason in problem
 * @property {boolean} isConflict chatguard refused it because of what others have done since
 * @property {boolean} isUnknown the answer was lost, so the change may have been made
 * @property {string} action what was asked for, as in an audit entry
 * @property {number} sentAt when the change was sent, ms
 * @property {Api.Silence | null} [silenced] the user's timeout or ban by this change, or the one for
 *   which chatguard refused it; undefined if the change isn't about it
 * @property {Api.Silence} [remains] the timeout or ban that a pardon has left in force
 * @property {Wanted | null} wanted the timeout that was asked for
 * @property {string} severity "timed-out" or "banned" if the user now is; as in a chip's class
 * @property {string} done the result in a few words
 * @property {string} sentence the same as a sentence
 * @property {boolean} isToRead the sentence says more than the moderator asked for
 * @property {boolean} isPartial something remains that the moderator may have wanted to change
 * @property {boolean} isThrottled a limit still throttles the user for long
 * @property {boolean} isSaved a restart doesn't undo the change
 * @property {Undoing | null} undoing what an undo needs; null if the change can't be undone
 * @property {number} at when the change was sent or answered, ms
 */

/** @typedef {{length: string, reason: string}} Wanted */

/**
 * Undoing contains a pardon's ID and its time limit, or the former override and the ETag of the
 * present one, or the
 * last part of the address that undoes a timeout or ban, and what that replaced.
 * @typedef {object} Undoing
 * @property {string} [lift]
 * @property {Api.Silence} [replaced]
 * @property {number} [pardon]
 * @property {string} [until]
 * @property {Api.UserOverride} [former]
 * @property {string} [etag]
 */

/** @param {Partial<Outcome>} known */
export function outcomeOf(known) {
  /** @type {Outcome} */
  const nothing = {
    busy: false, problem: "", mistake: null, isUnsent: false, isConflict: false, isUnknown: false, action: "", sentAt: 0, wanted: null, severity: "", done: "", sentence: "", isToRead: false,
    isPartial: false, isThrottled: false, isSaved: true, undoing: null, at: now(),
  };
  return { ...nothing, ...known };
}

// userAddress returns the address of a user in the API.
/** @param {string} user */
export const userAddress = (user) => `/channels/${encodeURIComponent(state.channel ?? "")}/users/${encodeURIComponent(user)}`;

// change makes a change, and stores its outcome before and after chatguard answers. said converts
// the answer to an outcome.
/**
 * @param {string} user
 * @param {Api.Audit["action"]} action
 * @param {string} ask the method, and the path relative to the user's address
 * @param {{body?: unknown, ifMatch?: string, wanted?: Wanted}} options
 * @param {(answer: any) => Partial<Outcome>} said
 */
async function change(user, action, ask, { wanted = null, ...options }, said) {
  const { channel, changes: { [user]: last } } = state;
  if (last?.busy) return null;
  const [method, path] = ask.split(" "), sentAt = now();
  set(user, { ...last, problem: "", busy: true, at: sentAt });
  /** @param {Partial<Outcome>} known */
  const answered = (known) => (channel === state.channel ? set(user, { action, sentAt, wanted, ...known }) : null);
  try {
    const { body } = await request(method, userAddress(user) + path, options);
    return answered({ isSaved: body.saved, ...said(body) });
  } catch (problem) {
    if (ifSignedOut(problem)) return null;
    const { message, mistake = null, silenced, status, isUnknown } = problem;
    return answered({ problem: message, mistake, isConflict: status === 409, isUnknown, silenced });
  }
}

// set stores a user's outcome. It drops the outcomes of users whom no page shows, except pending
// ones.
/** @param {string} user @param {Partial<Outcome>} known */
function set(user, known) {
  const outcome = outcomeOf(known);
  update((s) => {
    const kept = Object.entries(s.changes).filter(([other, { busy }]) => busy || s.users.has(other) || s.people?.person?.id === other);
    s.changes = { ...Object.fromEntries(kept), [user]: outcome };
  });
  return outcome;
}

// fail stores why no change of a user was sent.
/** @param {string} user @param {string} problem */
export const fail = (user, problem) => set(user, { problem, isUnsent: true });

// problemOf returns why chatguard refused a change. If a timeout or ban was in force, it says what
// is in force now.
/** @param {Outcome} of @param {Api.Silence | null} silence in force now */
export function problemOf({ problem, silenced, wanted }, silence) {
  if (!problem || !silenced) return problem;
  if (!silence) return t("now.lift-nothing");
  return conflictWords(silence, wanted ? now() + Number(parseLength(wanted.length) / 1_000_000n) : Infinity);
}

// forget drops a user's outcome, unless a change is pending.
/** @param {string} user */
export function forget(user) {
  const { [user]: outcome, ...others } = state.changes;
  if (outcome && !outcome.busy) update((s) => (s.changes = others));
}

// kindOf returns "bad", "warn" or "done".
/** @param {Outcome} of */
export function kindOf({ problem, isSaved, isPartial }) {
  return problem ? "bad" : isSaved && !isPartial ? "done" : "warn";
}

// noticeOf returns an outcome as sentences, including a note on a change that isn't saved yet.
/** @param {Outcome} of @param {Database} [database] */
export function noticeOf({ problem, sentence, isSaved }, database) {
  return problem || (sentence && !isSaved ? sentences(sentence, unsavedChange(database)) : sentence);
}

// withSameWait adds to an outcome's sentence that the user's last message still has to wait, if
// only a limit on repeated text throttles them: no grant, reset or pardon changes that.
/** @param {string} user @param {string} sentence */
function withSameWait(user, sentence) {
  const row = state.users.get(user);
  if (!row || !waitsWithSame(row)) return { sentence };
  return { sentence: sentences(sentence, t("words.same-waits-said", { wait: wait(row.until - now()) })), isToRead: true };
}

// grant gives a user extra messages in a limit. zone is the time zone of the outcome's texts, by
// default the browser's.
/** @param {string} user @param {string} limit @param {number} messages @param {string} [zone] */
export function grant(user, limit, messages, zone) {
  return change(user, "grant", "POST /grant", { body: { limit, messages } }, ({ until }) => {
    const at = Date.parse(until ?? ""), values = { n: messages, limit };
    if (!at) return { done: t("words.granted", { n: messages }), ...withSameWait(user, t("words.granted-said", values)) };
    return {
      done: t("words.granted-until", { n: messages, time: toMinute(at, zone) }),
      ...withSameWait(user, t("words.granted-until-said", { ...values, time: clock(at, zone) })),
    };
  });
}

// exempt lets a user write without limits for a duration such as "10m". If length is empty, the
// exemption has no end.
/** @param {string} user @param {string} length @param {string} [zone] */
export function exempt(user, length, zone) {
  return change(user, "exempt", "POST /exempt", { body: length ? { for: length } : {} }, (answer) => {
    const at = Date.parse(answer.until ?? "");
    return {
      done: at ? t("words.exempted-until", { time: toMinute(at, zone) }) : t("words.exempted"),
      sentence: at ? t("words.exempted-until-said", { time: clock(at, zone) }) : t("words.exempted-said"),
      undoing: { former: answer.former, etag: answer.override_etag },
    };
  });
}

// reset clears a user's usage and strikes.
/** @param {string} user */
export function reset(user) {
  return change(user, "reset", "POST /reset", {}, () => ({
    done: t("words.reset"), ...withSameWait(user, t("words.reset-said")),
  }));
}

// override replaces the user's override if it still has the given ETag. An empty override removes
// it.
/** @param {string} user @param {Api.UserOverride} own @param {string} etag */
export function override(user, own, etag) {
  return replace(user, own, etag, (answer) => ({
    done: t("words.changed"), sentence: t("words.changed-said"),
    undoing: { former: answer.former, etag: answer.override_etag },
  }));
}

/**
 * @param {string} user
 * @param {Api.UserOverride} own
 * @param {string} etag
 * @param {(answer: any) => Partial<Outcome>} said
 */
function replace(user, own, etag, said) {
  const isEmpty = Object.keys(own).length === 0;
  return change(user, "override", `${isEmpty ? "DELETE" : "PUT"} /override`, { body: isEmpty ? undefined : own, ifMatch: etag }, said);
}

// pardon pardons the last throttled message and all throttled messages before it without a gap.
/** @param {string} user @param {string} [zone] */
export function pardon(user, zone) {
  return change(user, "pardon", "POST /pardon", {}, (answer) => {
    const { word, sentence, ...words } = pardonWords(answer, zone);
    const undoing = answer.id ? { pardon: answer.id, until: answer.undo_until } : null;
    return { done: word, ...words, ...withSameWait(user, sentence), isToRead: true, undoing, remains: answer.silenced };
  });
}

// mayUndo reports whether an outcome can still be undone. With a card, it also returns false if
// someone else has changed the override since, because the undo would drop that change.
/** @param {Outcome | null} outcome @param {Api.getChannelsUsers} [card] */
export function mayUndo(outcome, card) {
  if (!outcome?.undoing) return false;
  const { until, etag, lift } = outcome.undoing;
  if (lift) return true;
  if (until) return Date.parse(until) > now();
  return !card || etag === card.override_etag;
}

const shortestTimeout = 1_000_000_000n, longestTimeout = 14n * 86_400_000_000_000n; // as chatguard accepts them, ns

// timeOut times a user out for a duration as people write it. isConfirmed says that the timeout may
// replace one that lasts longer.
/** @param {string} user @param {string} length @param {string} reason @param {boolean} isConfirmed @param {string} [zone] */
export async function timeOut(user, length, reason, isConfirmed, zone) {
  const ns = parseLength(length);
  if (length.trim() === "") return fail(user, t("words.no-timeout"));
  if (ns === null || ns < shortestTimeout || ns > longestTimeout) {
    return fail(user, t("words.wrong-timeout", { text: length.trim() }));
  }
  const body = { length: durationText(ns), reason: reason.trim(), replace: isConfirmed };
  return change(user, "timeout", "POST /timeout", { body, wanted: { length, reason } }, (answer) => ({
    ...timeoutWords(answer, state.me.author, zone), silenced: answer.silenced, undoing: answer.undo ? { lift: answer.undo, replaced: answer.before } : null,
  }));
}

// ban bans a user until somebody unbans them.
/** @param {string} user @param {string} reason @param {string} [zone] */
export function ban(user, reason, zone) {
  return change(user, "ban", "POST /ban", { body: { reason: reason.trim() } }, (answer) => ({
    ...banWords(answer, state.me.author, zone), silenced: answer.silenced, isToRead: true, undoing: answer.undo ? { lift: answer.undo, replaced: answer.before } : null,
  }));
}

// lift ends a user's timeout or ban.
/** @param {string} user @param {"timeout" | "ban"} what */
export function lift(user, what) {
  return change(user, "lift", `DELETE /${what}`, {}, (answer) => ({ ...liftWords(answer, state.me.author), silenced: null, isToRead: true }));
}

// undo undoes a pardon, a timeout or a ban, or restores the former override.
/** @param {string} user @param {Undoing} undoing */
export function undo(user, { lift: what, replaced, pardon: id, former = {}, etag = "" }) {
  if (what) return change(user, "lift", `DELETE /${what}`, {}, (answer) => ({ ...undoWords(answer, replaced, state.me.author), silenced: answer.silenced ?? null, isToRead: true }));
  if (!id) return replace(user, former, etag, () => ({ done: t("words.undone"), sentence: t("words.undone-said") }));
  return change(user, "unpardon", `DELETE /pardon/${id}`, {}, (answer) => ({
    done: t("words.unpardoned"), sentence: unpardonWords(answer), isToRead: true,
  }));
}

// grantable lists the limits in which the signed-in person may give a user extra messages. What
// counts across all channels needs rights over the whole installation.
/** @param {Api.getChannelsUsers} card */
export const grantable = ({ limits }) => limits.filter((limit) => !isShared(limit) && (!state.me.channels || !isAcrossChannels(limit)));

// grantedUsually returns the name of the limit that is selected by default: the first daily limit,
// or the first limit if none is daily.
/** @param {Api.getChannelsUsers} card */
export function grantedUsually(card) {
  const limits = grantable(card);
  return (limits.find(({ algorithm }) => algorithm === "daily-window") ?? limits[0])?.name;
}

// exemptLengths lists the durations that an exemption can have. The end of the day is unknown
// without a card.
/** @param {Api.getChannelsUsers | null} card */
export function exemptLengths(card) {
  return [
    { length: "10m", name: t("words.exempt-10-minutes") },
    { length: "1h", name: t("words.exempt-hour") },
    { length: "4h", name: t("words.exempt-4-hours") },
    { length: "day", name: t("words.exempt-day", { time: card ? upcoming(Date.parse(card.day_ends), card.timezone) : "…" }) },
    { length: "", name: t("words.exempt-always") },
  ];
}

// exemptLength writes one of these durations as the API expects it.
/** @param {Api.getChannelsUsers} card @param {string} length */
export const exemptLength = (card, length) => (length === "day" ? `${Math.ceil((Date.parse(card.day_ends) - now()) / 1000)}s` : length);

// resetWarning says what a reset does.
export const resetWarning = () => t("words.reset-warning");
