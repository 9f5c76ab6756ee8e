// @ts-check
// Timeouts and bans in words.

import { rich, sentences, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { now } from "../core/state.js";
import { authorName } from "./author.js";
import { clock, seconds, toMinute, wait } from "./time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */

// silenceWords describes a timeout or ban: "a timeout by anna until 14:03:22 CET". An unknown
// author is left out.
/** @param {Api.Silence} silence @param {string} [zone] */
export function silenceWords({ banned, until, by }, zone) {
  if (banned) return by ? t("words.a-ban-by", { by: authorName(by) }) : t("words.a-ban");
  const time = clock(Date.parse(until ?? ""), zone);
  return by ? t("words.a-timeout-until-by", { time, by: authorName(by) }) : t("words.a-timeout-until", { time });
}

// timeoutWords, banWords and liftWords describe the answer to a timeout, a ban and the end of one:
// {done, sentence, severity}. done is short enough for a row. me is the name of the moderator.
/** @param {Api.postChannelsUsersTimeout} answer @param {string} me @param {string} [zone] */
export function timeoutWords({ silenced, before }, me, zone) {
  const at = Date.parse(silenced?.until ?? "");
  const sentence = sentences(t("words.timed-out-said", { time: clock(at, zone) }), replaced(before, me, zone));
  return { done: t("words.timed-out", { time: toMinute(at, zone) }), sentence, severity: "timed-out" };
}

/** @param {Api.postChannelsUsersBan} answer @param {string} me @param {string} [zone] */
export function banWords({ already, silenced, before }, me, zone) {
  if (!already) return { done: t("words.banned"), sentence: sentences(t("words.banned-said"), replaced(before, me, zone)), severity: "banned" };
  const sentence = silenced?.by ? t("words.already-banned-by-said", { by: authorName(silenced.by) }) : t("words.already-banned-said");
  return { done: t("words.already-banned"), sentence, severity: "banned" };
}

/** @param {Api.deleteChannelsUsersBan} answer @param {string} me */
export function liftWords({ already, before }, me) {
  if (already) return { done: t("words.not-banned"), sentence: t("words.not-banned-said"), severity: "" };
  const whose = before?.by && before.by !== me && t("words.given-by-said", { by: authorName(before.by) });
  const [done, said] = !before ? [t("words.lifted"), t("words.lifted-said")]
    : before.banned ? [t("words.unbanned"), t("words.unbanned-said")]
    : [t("words.timeout-ended"), t("words.timeout-ended-said")];
  return { done, sentence: sentences(said, whose), severity: "" };
}

// undoWords describes the answer to the undo of a timeout or ban. replaced is the timeout that it
// had replaced.
/** @param {Api.deleteChannelsUsersBan} answer @param {Api.Silence | undefined} replaced @param {string} me */
export function undoWords(answer, replaced, me) {
  const { already, silenced } = answer, words = liftWords(answer, me);
  if (silenced) {
    const at = Date.parse(silenced.until ?? "");
    return { done: t("words.timed-out", { time: toMinute(at) }), sentence: sentences(words.sentence, t("words.restored-said", { time: clock(at) })), severity: "timed-out" };
  }
  const isLost = !already && replaced && !replaced.banned && Date.parse(replaced.until ?? "") > now();
  return isLost ? { ...words, sentence: sentences(words.sentence, t("words.not-restored-said")), isPartial: true } : words;
}

// inForceWords says which timeout or ban is in force.
/** @param {Api.Silence} silence */
export const inForceWords = (silence) => t("words.in-force-said", { silence: silenceWords(silence) });

// conflictWords says why a change doesn't fit the timeout or ban in force. end is when the timeout
// that was asked for would end, ms.
/** @param {Api.Silence} silence @param {number} end */
export function conflictWords(silence, end) {
  return sentences(inForceWords(silence), Date.parse(silence.until ?? "") > end ? t("words.shorter-said") : t("words.unchanged-said"));
}

/** @param {Api.Silence | undefined} before @param {string} me @param {string} [zone] */
function replaced(before, me, zone) {
  return before && t("words.replaces-said", { silence: silenceWords({ ...before, by: before.by === me ? "" : before.by }, zone) });
}

// silenceDone describes a timeout or ban that was given: "timed out for 10 min by anna". An unknown
// author is left out.
/** @param {Api.Silence} silence */
export function silenceDone({ banned, until, at, by }) {
  const whose = { by: authorName(by) };
  if (banned) return by ? t("words.banned-by", whose) : t("words.banned");
  const end = Date.parse(until ?? ""), begin = Date.parse(at ?? "");
  if (begin > 0) {
    const length = wait(rounded(end - begin));
    return by ? t("words.timed-out-for-by", { length, ...whose }) : t("words.done-timeout-length", { length });
  }
  const time = toMinute(end);
  return by ? t("words.timed-out-until-by", { time, ...whose }) : t("words.timed-out", { time });
}

// silenceBrief is silenceDone without the duration, if there is an author: "timed out by anna".
/** @param {Api.Silence} silence */
export const silenceBrief = (silence) => (silence.by && !silence.banned ? t("words.timed-out-by", { by: authorName(silence.by) }) : silenceDone(silence));

const minute = 60_000, second = 1000; // ms

// rounded returns a timeout's duration as it was asked for: its beginning and end may come from
// different clocks.
/** @param {number} ms */
function rounded(ms) {
  const minutes = Math.round(ms / minute) * minute;
  return minutes > 0 && Math.abs(ms - minutes) <= 2 * second ? minutes : Math.round(ms / second) * second;
}

// timeoutName writes the duration of a usual timeout: "10 min".
/** @param {string} length */
export const timeoutName = (length) => wait(seconds(length) * second);

// timeoutsByLength lists usual timeouts, the shortest first.
/** @param {string[]} lengths */
export const timeoutsByLength = (lengths) => [...new Set(lengths)].sort((a, b) => seconds(a) - seconds(b)).map((length) => ({ length, name: timeoutName(length) }));

// banWarning says what a ban does.
export const banWarning = () => t("words.ban-warning");

// liftNames returns the button that ends a timeout or ban, the one that asks about it, that one's
// other name, and the function that names it with its user. Without a silence, it isn't known which
// of them it is.
/** @param {Api.Silence | null | undefined} silence */
export function liftNames(silence) {
  const ofTimeout = t("words.end-timeout-open"), ofBan = t("words.unban-open");
  if (isTimeout(silence)) return { button: t("words.end-timeout"), opener: ofTimeout, other: ofBan, about: (/** @type {string} */ who) => t("words.end-timeout-of", { who }) };
  return { button: t("words.unban"), opener: ofBan, other: ofTimeout, about: (/** @type {string} */ who) => t("words.unban-user", { who }) };
}

// liftQuestion asks whether to end a timeout or ban, and says who gave it.
/** @param {Api.Silence | null | undefined} silence @param {Value} who */
export function liftQuestion(silence, who) {
  if (!silence?.by) return isTimeout(silence) ? rich("words.end-timeout-question", { who }) : rich("words.unban-question", { who });
  const values = { who, by: html`<bdi>${authorName(silence.by)}</bdi>` };
  return isTimeout(silence) ? rich("words.end-timeout-question-by", values) : rich("words.unban-question-by", values);
}

/** @param {Api.Silence | null | undefined} silence */
const isTimeout = (silence) => Boolean(silence) && !silence.banned;
