// @ts-check
// Another algorithm for a limit: its numbers are carried over, so that the messages at once and the
// long-term rate stay the same if the algorithm can have both.

import { draftLimit, limitOf } from "./draft.js";
import { algorithms, roleFields } from "../words/algorithms.js";
import { durationText, nanoseconds } from "../words/lengths.js";
/** @import { DraftLimit } from "./draft.js" */

/**
 * Pace is what the numbers of every algorithm come to.
 * @typedef {object} Pace
 * @property {number} messages the messages at once
 * @property {bigint} every the time for that many messages, ns
 */

const day = 86_400_000_000_000n, longest = 13_343n * day, ms = 1_000_000n; // ns
const mostMessages = 2_147_483_647, mostLogged = 1024;

// withAlgorithm returns the draft of a limit with another algorithm. loaded is the limit as it was
// loaded; its own algorithm brings back its own numbers.
/** @param {DraftLimit} draft @param {Api.Limit | undefined} loaded @param {string} algorithm @returns {DraftLimit} */
export function withAlgorithm(draft, loaded, algorithm) {
  const { source, texts, roles } = draftLimit(loaded?.algorithm === algorithm ? loaded : convert(draft, algorithm), draft.id);
  return { ...draft, source, texts, roles };
}

/** @param {DraftLimit} draft @param {string} algorithm @returns {Api.Limit} */
function convert(draft, algorithm) {
  const limit = limitOf(draft);
  const base = { name: draft.source.name, algorithm: /** @type {Api.Limit["algorithm"]} */ (algorithm) };
  const pace = paceOf(limit);
  if (!pace) return { ...base, ...algorithms[algorithm].start };
  const numbers = numbersFor(algorithm, pace);
  const roles = Object.entries(limit.roles ?? {}).map(([role, own]) => {
    const theirs = numbersFor(algorithm, paceOf({ ...limit, ...own }) ?? pace);
    const differing = Object.keys(roleFields(base)).filter((field) => theirs[field] !== numbers[field]);
    return [role, Object.fromEntries(differing.map((field) => [field, theirs[field]]))];
  });
  return /** @type {Api.Limit} */ ({ ...base, ...numbers, ...(roles.length > 0 && { roles: Object.fromEntries(roles) }) });
}

// paceOf returns nothing if a number of the limit is missing or wrong.
/** @param {Api.Limit} limit @returns {Pace | undefined} */
function paceOf({ algorithm, burst, refill, queue = 0, messages, every }) {
  const waiting = algorithm === "leaky-bucket";
  const count = burst ?? (waiting ? queue + 1 : messages);
  const each = nanoseconds(refill ?? (waiting ? every : undefined) ?? "");
  const whole = algorithm === "daily-window" ? day : nanoseconds(every ?? "");
  if (!Number.isSafeInteger(count) || count < 1 || (each <= 0n && whole <= 0n)) return undefined;
  return { messages: count, every: each > 0n ? each * BigInt(count) : whole };
}

/** @param {string} algorithm @param {Pace} pace @returns {Record<string, any>} */
function numbersFor(algorithm, { messages, every }) {
  const each = longer(ms, ((every / BigInt(messages)) / ms) * ms);
  switch (algorithm) {
    case "token-bucket":
      return { burst: messages, refill: durationText(each) };
    case "leaky-bucket":
      return { every: durationText(each), queue: messages - 1 };
    case "daily-window":
      return { messages: Number(longer(1n, shorter(BigInt(mostMessages), (day * BigInt(messages)) / every))) };
  }
  const most = algorithm === "sliding-log" ? mostLogged : mostMessages;
  const time = messages > most ? each * BigInt(most) : every;
  return { messages: Math.min(messages, most), every: durationText(shorter(longest, longer(ms, time))) };
}

/** @param {bigint} a @param {bigint} b */
const longer = (a, b) => (a > b ? a : b);
/** @param {bigint} a @param {bigint} b */
const shorter = (a, b) => (a < b ? a : b);
