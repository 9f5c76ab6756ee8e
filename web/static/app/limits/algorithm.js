// @ts-check
// Changing the algorithm of a limit. Its numbers are converted, so that the messages at once and
// the long-term rate stay the same if the new algorithm can have both.

import { draftLimit, limitOf } from "./draft.js";
import { algorithmOf, roleFields } from "../words/algorithms.js";
import { durationText, nanoseconds } from "../words/lengths.js";
/** @import { DraftLimit } from "./draft.js" */
/** @import { Field, Fields } from "../words/algorithms.js" */

/**
 * Pace is what is kept when the algorithm changes.
 * @typedef {object} Pace
 * @property {number} messages the messages at once
 * @property {bigint} every the time for that many messages, ns
 */

const day = 86_400_000_000_000n, ms = 1_000_000n; // ns

// withAlgorithm returns the draft of a limit with another algorithm. If that is the algorithm of
// loaded, the limit as it was loaded, its numbers come back.
/** @param {DraftLimit} draft @param {Api.Limit | undefined} loaded @param {string} algorithm @returns {DraftLimit} */
export function withAlgorithm(draft, loaded, algorithm) {
  const { source, texts, roles } = draftLimit(loaded?.algorithm === algorithm ? loaded : convert(draft, algorithm), draft.id);
  const { fields } = algorithmOf({ algorithm });
  const kept = Object.entries(draft.texts).filter(([name]) => name in texts && !fields[name]); // only limits on repeated text have these
  return { ...draft, source, texts: { ...texts, ...Object.fromEntries(kept) }, roles };
}

/** @param {DraftLimit} draft @param {string} algorithm @returns {Api.Limit} */
function convert(draft, algorithm) {
  const limit = limitOf(draft);
  const base = { name: draft.source.name, algorithm: /** @type {Api.Limit["algorithm"]} */ (algorithm) };
  const { fields, start } = algorithmOf(base);
  const pace = paceOf(limit);
  if (!pace) return { ...base, ...start };
  const numbers = numbersFor(fields, pace);
  const roles = Object.entries(limit.roles ?? {}).map(([role, own]) => {
    const theirs = numbersFor(fields, paceOf({ ...limit, ...own }) ?? pace);
    const differing = Object.keys(roleFields(base)).filter((field) => theirs[field] !== numbers[field]);
    return [role, Object.fromEntries(differing.map((field) => [field, theirs[field]]))];
  });
  return /** @type {Api.Limit} */ ({ ...base, ...start, ...numbers, ...(roles.length > 0 && { roles: Object.fromEntries(roles) }) });
}

/** @type {Record<string, bigint>} */
const daysOf = { week: 7n, month: 30n }; // of a daily window's period

// paceOf returns the pace of a limit, or nothing if a number is missing or wrong.
/** @param {Api.Limit} limit @returns {Pace | undefined} */
function paceOf({ algorithm, burst, refill, queue = 0, messages, every, period }) {
  const { fields, hasDay } = algorithmOf({ algorithm });
  const count = burst ?? (fields.queue ? queue + 1 : messages);
  const each = nanoseconds(refill ?? (fields.queue ? every : undefined) ?? "");
  const whole = hasDay ? day * (daysOf[period] ?? 1n) : nanoseconds(every ?? "");
  if (!Number.isSafeInteger(count) || count < 1 || (each <= 0n && whole <= 0n)) return undefined;
  return { messages: count, every: each > 0n ? each * BigInt(count) : whole };
}

// numbersFor returns the numbers that give these fields a pace, within their bounds.
/** @param {Fields} fields @param {Pace} pace @returns {Record<string, any>} */
function numbersFor(fields, { messages, every }) {
  const each = longer(ms, ((every / BigInt(messages)) / ms) * ms);
  if (fields.burst) return { burst: messages, refill: durationText(each) };
  if (fields.queue) return { every: durationText(each), queue: messages - 1 };
  if (!fields.messages) return {};
  if (!fields.every) return { messages: Number(longer(1n, shorter(BigInt(fields.messages.most), (day * BigInt(messages)) / every))) };
  const { most } = fields.messages;
  const time = messages > most ? each * BigInt(most) : every;
  return { messages: Math.min(messages, most), every: durationText(shorter(longest(fields.every), longer(ms, time))) };
}

// longest returns the longest duration of a field in whole days, ns.
/** @param {Field} field */
const longest = ({ most }) => (BigInt(Math.floor(most)) * 1_000_000_000n / day) * day;

/** @param {bigint} a @param {bigint} b */
const longer = (a, b) => (a > b ? a : b);
/** @param {bigint} a @param {bigint} b */
const shorter = (a, b) => (a < b ? a : b);
