// @ts-check
// The algorithms: their names and descriptions, the numbers that can be edited, the effect of these
// numbers in words, and the initial numbers of a new limit.

import { length } from "./time.js";

/**
 * Field is a number of a limit. least and most of a duration are in seconds.
 * @typedef {object} Field
 * @property {string} label
 * @property {string} unit
 * @property {boolean} isLength it is a duration
 * @property {number} least
 * @property {number} most
 * @property {boolean} [mayBeEmpty]
 * @property {string} [zero] what a duration of 0 means
 */

/** @typedef {Record<string, Field>} Fields */

/**
 * @typedef {object} Algorithm
 * @property {string} name
 * @property {string} about
 * @property {Partial<Api.Limit>} start the numbers of a new limit
 * @property {Fields} fields
 * @property {(numbers: Record<string, number>, limit: Partial<Api.Limit>, zone: string) => string}
 *   rule the limit in words; a duration is a number of seconds
 * @property {(numbers: Record<string, number>, limit: Partial<Api.Limit>, zone: string) => string}
 *   meaning the effect of the numbers, in words
 */

const mostMessages = 2 ** 31 - 1;
const mostLogged = 1024; // messages; a sliding log can't store more
const mostSeconds = 13_343 * 86_400; // about 2 ** 60 ns

/** @param {string} label @param {number} [least] @param {number} [most] */
const count = (label, least = 1, most = mostMessages) => ({ label, unit: "messages", isLength: false, least, most });
/** @param {string} label */
const time = (label) => ({ label, unit: "", isLength: true, least: 0.001, most: mostSeconds });

/** @type {Record<string, Algorithm>} */
export const algorithms = {
  "token-bucket": {
    name: "token bucket",
    about: "A few messages at once, then one more every few seconds. Good against bursts.",
    start: { burst: 3, refill: "4s" },
    fields: { burst: count("Messages at once"), refill: time("Then one more every") },
    rule: ({ burst, refill }) => (burst === 1 ? `One message every ${span(refill)}` : `${amount(burst)} messages, then one every ${span(refill)}`),
    meaning: ({ burst, refill }) =>
      `Long-term rate: ${longRun(1, refill)}.` + (burst > 1 ? ` A full burst of ${amount(burst)} refills in ${length(burst * refill)}.` : ""),
  },
  "leaky-bucket": {
    name: "leaky bucket",
    about: "One message at a time, evenly spaced; a few can queue. Good if your chat server can delay messages.",
    start: { every: "2s", queue: 3 },
    fields: { every: time("One message every"), queue: count("Queue size", 0, mostMessages - 1) },
    rule: ({ every, queue }) => `One message every ${span(every)}` + (queue > 0 ? `, with ${amount(queue)} more waiting` : ""),
    meaning: ({ every, queue }) =>
      `Long-term rate: ${longRun(1, every)}. ` +
      (queue === 0
        ? `A message less than ${length(every)} after the previous one is throttled.`
        : `If ${amount(queue + 1)} arrive at once, the last waits ${length(queue * every)}. ` +
          "On Twitch, messages are never delayed, only throttled when the queue is full."),
  },
  "fixed-window": {
    name: "fixed window",
    about: "A number of messages per clock interval, such as each minute. Simple, but up to twice as many can pass when one interval ends and the next begins.",
    start: { messages: 20, every: "1m" },
    fields: { messages: count("Messages per window"), every: time("Window length") },
    rule: ({ messages, every }) => `${counted(messages)} every ${span(every)} by the clock`,
    meaning: ({ messages, every }) =>
      `Long-term rate: ${longRun(messages, every)}. Windows follow the UTC clock. Up to ${amount(2 * messages)} messages can pass in a row when one window ends and the next begins.`,
  },
  "daily-window": {
    name: "daily window",
    about: "A number of messages per day. Resets at the end of the user’s day.",
    start: { messages: 300, reset_at: "00:00" },
    fields: { messages: count("Messages per day") },
    rule: ({ messages }, limit, zone) => `${counted(messages)} a day, until ${endOfDay(limit, zone)}`,
    meaning: () => "",
  },
  "user-window": {
    name: "user window",
    about: "A number of messages per period. The period begins with the user’s first message.",
    start: { messages: 30, every: "5m" },
    fields: { messages: count("Messages per window"), every: time("Window length") },
    rule: ({ messages, every }) => `${counted(messages)} in ${length(every)}, from the first one on`,
    meaning: ({ messages, every }) =>
      `Long-term rate: ${longRun(messages, every)}. A window begins with its first message and resets ${length(every)} later.`,
  },
  "sliding-window": {
    name: "sliding window",
    about: "A number of messages in a moving period, estimated. Good for large numbers.",
    start: { messages: 100, every: "1h" },
    fields: { messages: count("Messages per window"), every: time("Window length") },
    rule: ({ messages, every }) => `About ${counted(messages)} in any ${span(every)}`,
    meaning: ({ messages, every }) =>
      `Long-term rate: ${longRun(messages, every)}. Estimated: the messages of the previous window are assumed to be evenly spread.`,
  },
  "sliding-log": {
    name: "sliding log",
    about: "A number of messages in a moving period, exact. For up to 1,024 messages.",
    start: { messages: 10, every: "30s" },
    fields: { messages: count("Messages per window", 1, mostLogged), every: time("Window length") },
    rule: ({ messages, every }) => `${counted(messages)} in any ${span(every)}`,
    meaning: ({ messages, every }) =>
      `Long-term rate: ${longRun(messages, every)}. Each message counts for exactly ${length(every)}.`,
  },
};

// algorithmOf returns the algorithm of a limit.
/** @param {{algorithm: string}} limit */
export function algorithmOf(limit) {
  return algorithms[limit.algorithm] ?? { name: limit.algorithm, about: "", start: {}, fields: {}, rule: () => limit.algorithm, meaning: () => "" };
}

// span writes the length of a period after "every" or "any": "minute", "5 minutes".
/** @param {number} time */
const span = (time) => length(time).replace(/^1 (?=\w+$)/, "");

/** @param {number} messages */
const counted = (messages) => (messages === 1 ? "1 message" : `${amount(messages)} messages`);

/** @param {Partial<Api.Limit>} limit @param {string} zone */
function endOfDay({ reset_at: at, timezone }, zone) {
  const place = timezone || zone || "UTC";
  return `${!at || at === "00:00" ? "midnight" : at}${place === "UTC" ? " UTC" : ` in ${place}`}`;
}

// roleFields returns the numbers of a limit that can be customised per role or user. Empty ones are
// inherited.
/** @param {{algorithm: string}} limit */
export function roleFields(limit) {
  const { every, ...fields } = algorithmOf(limit).fields;
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, mayBeEmpty: true }]));
}

const grouped = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 3 });

// amount writes a number of messages: "15,750".
/** @param {number} number */
export const amount = (number) => grouped.format(number);

/** @type {[string, number][]} */
const spans = [["per minute", 60], ["per hour", 3600], ["per day", 86400], ["per week", 604800]];

// longRun writes a rate: "200,000 per day". It uses the shortest span that allows at least one
// message and is at least as long as the given time. A time over a day counts as a day.
/** @param {number} messages @param {number} seconds */
function longRun(messages, seconds) {
  const span = spans.find(([, long]) => long >= Math.min(seconds, 86400) && messages * long >= seconds);
  if (!span) return `${amount(messages)} per ${length(seconds)}`;
  const exact = Number(((messages * span[1]) / seconds).toPrecision(12));
  const shown = Number.isInteger(exact) ? exact : Number(exact.toPrecision(3));
  return `${shown === exact ? "" : "about "}${amount(shown)} ${span[0]}`;
}
