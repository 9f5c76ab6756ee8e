// @ts-check
// The reasons for the outcome of a penalty, in words.

import { t } from "../../text/text.js";
import { wait } from "./time.js";

/** @typedef {import("../../text/text.js").TextKey} TextKey */

// fixed are the server's reasons that have no number.
/** @type {Record<string, TextKey>} */
const fixed = {
  "the request budget is used up": "words.reason-budget",
  "chatguard's own queue was too long": "words.reason-own-queue",
  "the chat's server was slow": "words.reason-slow",
  "queue full": "words.reason-queue-full",
  "chatguard stopped; whether it was carried out is unknown": "words.reason-stopped",
};

// timed are its reasons that end with a number of seconds.
/** @type {Record<string, TextKey>} */
const timed = {
  "Twitch accepts no more timeouts in this channel for": "words.reason-no-timeouts",
  "Twitch accepts no more bans in this channel for": "words.reason-no-bans",
  "Twitch accepts no more warnings in this channel for": "words.reason-no-warnings",
  "Twitch failed to carry out timeouts in this channel; the next one is tried in": "words.reason-failed-timeouts",
  "Twitch failed to carry out bans in this channel; the next one is tried in": "words.reason-failed-bans",
  "Twitch failed to carry out warnings in this channel; the next one is tried in": "words.reason-failed-warnings",
  // Entries that earlier versions wrote have these.
  "Twitch takes no more timeouts for this channel for": "words.reason-no-timeouts",
  "Twitch takes no more bans for this channel for": "words.reason-no-bans",
  "Twitch takes no more warnings for this channel for": "words.reason-no-warnings",
  "Twitch failed at timeouts for this channel; the next one is tried in": "words.reason-failed-timeouts",
  "Twitch failed at bans for this channel; the next one is tried in": "words.reason-failed-bans",
  "Twitch failed at warnings for this channel; the next one is tried in": "words.reason-failed-warnings",
};

// endings are appended to the reason if a penalty failed, but its message was deleted.
/** @type {Record<string, TextKey>} */
const endings = {
  "; the message was only deleted": "words.reason-only-deleted",
  "; the message was deleted": "words.reason-deleted",
};

// reasonWords returns a reason of the server in the page's language. One that isn't known, such as
// one that quotes Twitch, stays in English.
/** @param {string} reason @returns {string} */
export function reasonWords(reason) {
  const end = Object.keys(endings).find((text) => reason.endsWith(text));
  if (end) return t(endings[end], { why: reasonWords(reason.slice(0, -end.length)) });
  const late = /^too late: (.*)$/.exec(reason);
  if (late) return t("words.reason-too-late", { why: reasonWords(late[1]) });
  const [, start = "", seconds] = /^(.*) (\d+) s$/.exec(reason) ?? [];
  if (timed[start]) return t(timed[start], { time: wait(Number(seconds) * 1000) });
  return fixed[reason] ? t(fixed[reason]) : reason;
}
