// @ts-check
// Timeouts and bans in words.

import { clock, toMinute } from "./time.js";

// giver names who gave a timeout or ban.
/** @param {string} by */
export const giver = (by) => by.replace(/^twitch:(.*)/s, "$1 on Twitch");

// silenceWords describes a timeout or ban: "a timeout until 14:03:22 CET by anna". A giver that
// isn't known is left out.
/** @param {Api.Silence} silence @param {string} [zone] */
export function silenceWords({ banned, until, by }, zone) {
  return (banned ? "a ban" : `a timeout until ${clock(Date.parse(until ?? ""), zone)}`) + (by ? ` by ${giver(by)}` : "");
}

// timeoutWords, banWords and liftWords describe the answer to a timeout, a ban and the end of one:
// {done, sentence, severity}. done is short enough for a row. me is the name of the moderator.
/** @param {Api.postChannelsUsersTimeout} answer @param {string} me @param {string} [zone] */
export function timeoutWords({ silenced, before }, me, zone) {
  const at = Date.parse(silenced?.until ?? "");
  return { done: `timed out until ${toMinute(at, zone)}`, sentence: `Timed out until ${clock(at, zone)}.${replaced(before, me, zone)}`, severity: "timed-out" };
}

/** @param {Api.postChannelsUsersBan} answer @param {string} me @param {string} [zone] */
export function banWords({ already, silenced, before }, me, zone) {
  if (already) return { done: "already banned", sentence: `Nothing changed: they were already banned${silenced?.by ? ` by ${giver(silenced.by)}` : ""}.`, severity: "banned" };
  return { done: "banned", sentence: `Banned until somebody unbans them.${replaced(before, me, zone)}`, severity: "banned" };
}

/** @param {Api.deleteChannelsUsersBan} answer @param {string} me */
export function liftWords({ already, before }, me) {
  if (already) return { done: "not banned", sentence: "Nothing changed: they were neither timed out nor banned.", severity: "" };
  const done = !before ? "timeout or ban lifted" : before.banned ? "unbanned" : "timeout ended";
  const sentence = done[0].toUpperCase() + done.slice(1) + ".";
  const whose = before?.by && before.by !== me ? ` It was given by ${giver(before.by)}.` : "";
  return { done, sentence: sentence + whose, severity: "" };
}

/** @param {Api.Silence | undefined} before @param {string} me @param {string} [zone] */
function replaced(before, me, zone) {
  return before ? ` This replaces ${silenceWords({ ...before, by: before.by === me ? "" : before.by }, zone)}.` : "";
}

// timeoutLengths are the usual durations of a timeout.
export const timeoutLengths = [
  { length: "30s", name: "30 s" }, { length: "1m", name: "1 min" }, { length: "10m", name: "10 min" }, { length: "1h", name: "1 h" }, { length: "1d", name: "1 day" },
];

// banWarning says what a ban does.
export const banWarning = "They can’t write until you unban them.";

// liftNames returns the button, the question and the answer of ending a timeout or ban. Without a
// silence, it isn't known which of them it is.
/** @param {Api.Silence | null | undefined} silence */
export function liftNames(silence) {
  if (silence && !silence.banned) return { button: "End timeout", asks: "End the timeout of" };
  return { button: "Unban", asks: "Unban" };
}
