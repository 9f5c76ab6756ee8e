// @ts-check
// The algorithms in words: names and descriptions, labels of the numbers, and what numbers mean.
// Which numbers an algorithm has, with their bounds, comes from chatguard.

import { state } from "../core/state.js";
import { durationText } from "./lengths.js";
import { length } from "./time.js";

/**
 * Bounds say which values a number has. least and most of a duration are in seconds.
 * @typedef {object} Bounds
 * @property {boolean} isLength it is a duration
 * @property {number} least
 * @property {number} most
 * @property {boolean} [mayBeEmpty] an empty one is inherited
 * @property {boolean} [isRare] a limit does without it; unless stated, it is the least value
 */

/**
 * Description is what a person reads about a number.
 * @typedef {object} Description
 * @property {string} label
 * @property {string} unit
 * @property {string} [about] what it is for
 * @property {string} [zero] what a duration of 0 means
 */

/** @typedef {Bounds & Description} Field a number of a limit */

/** @typedef {Record<string, Field>} Fields */

/** @typedef {(numbers: Record<string, number>, limit: Partial<Api.Limit>, zone: string) => string} Sentence */

/**
 * Words describe an algorithm.
 * @typedef {object} Words
 * @property {string} name
 * @property {string} about
 * @property {Record<string, string>} [labels] of numbers whose usual label doesn't fit
 * @property {Sentence} rule the limit in words; a duration is a number of seconds
 * @property {Sentence} meaning the effect of the numbers, in words
 */

/**
 * @typedef {object} Algorithm
 * @property {string} name
 * @property {string} about
 * @property {Partial<Api.Limit>} start the numbers of a new limit
 * @property {Fields} fields
 * @property {Fields} ownFields the numbers that can be customised per role or user; empty ones are
 *   inherited
 * @property {boolean} hasDay its window is a day, which ends at a time of a time zone
 * @property {Sentence} rule
 * @property {Sentence} meaning
 */

/** @type {Record<string, Words>} */
const known = {
  "token-bucket": {
    name: "token bucket",
    about: "A few messages at once, then one more every few seconds. Good against bursts.",
    rule: ({ burst, refill }) => (burst === 1 ? `One message every ${span(refill)}` : `${amount(burst)} messages, then one every ${span(refill)}`),
    meaning: ({ burst, refill }) =>
      `Long-term rate: ${longRun(1, refill)}.` + (burst > 1 ? ` A full burst of ${amount(burst)} refills in ${length(burst * refill)}.` : ""),
  },
  "leaky-bucket": {
    name: "leaky bucket",
    labels: { every: "One message every" },
    about: "One message at a time, evenly spaced; a few can queue. Good if your chat server can delay messages.",
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
    rule: ({ messages, every }) => `${counted(messages)} every ${span(every)} by the clock`,
    meaning: ({ messages, every }) =>
      `Long-term rate: ${longRun(messages, every)}. Windows follow the UTC clock. Up to ${amount(2 * messages)} messages can pass in a row when one window ends and the next begins.`,
  },
  "daily-window": {
    name: "daily window",
    labels: { messages: "Messages per day" },
    about: "A number of messages per day. Resets at the end of the user’s day.",
    rule: ({ messages }, limit, zone) => `${counted(messages)} a day, until ${endOfDay(limit, zone)}`,
    meaning: () => "",
  },
  "user-window": {
    name: "user window",
    about: "A number of messages per period. The period begins with the user’s first message.",
    rule: ({ messages, every }) => `${counted(messages)} in ${length(every)}, from the first one on`,
    meaning: ({ messages, every }) =>
      `Long-term rate: ${longRun(messages, every)}. A window begins with its first message and resets ${length(every)} later.`,
  },
  "sliding-window": {
    name: "sliding window",
    about: "A number of messages in a moving period, estimated. Good for large numbers.",
    rule: ({ messages, every, slices }) => `About ${counted(messages)} in any ${span(every)}` + (slices > 1 ? `, counted in ${slices} slices` : ""),
    meaning: ({ messages, every, slices }) =>
      `Long-term rate: ${longRun(messages, every)}. Estimated: the messages of the ${slices > 1 ? "oldest slice" : "previous window"} are assumed to be evenly spread.`,
  },
  "sliding-log": {
    name: "sliding log",
    about: "A number of messages in a moving period, exact. Good for small numbers.",
    rule: ({ messages, every }) => `${counted(messages)} in any ${span(every)}`,
    meaning: ({ messages, every }) =>
      `Long-term rate: ${longRun(messages, every)}. Each message counts for exactly ${length(every)}.`,
  },
  cascade: {
    name: "cascade",
    about: "Two token buckets. The second one pays when the first is empty, and its messages have low priority.",
    rule: ({ burst, refill, extra_burst: extra, extra_refill: extraRefill }) =>
      `${counted(burst)}, then one every ${span(refill)}; at low priority ${amount(extra)} more, then one every ${span(extraRefill)}`,
    meaning: ({ refill, extra_refill: extraRefill }) =>
      `Long-term rate: ${longRun(1, refill)}, and ${longRun(1, extraRefill)} more at low priority. Low-priority messages pass unless a limit keeps a reserve.`,
  },
};

// labels are the usual labels of numbers.
/** @type {Record<string, string>} */
const labels = {
  burst: "Messages at once", refill: "Then one more every", queue: "Queue size", messages: "Messages per window", every: "Window length",
  extra_burst: "Low priority: more at once", extra_refill: "Low priority: one more every", reserve: "Kept for normal priority", slices: "Slices of the window",
};

// purposes say what rare numbers are for.
/** @type {Record<string, string>} */
const purposes = {
  reserve: "A message of low priority passes only if this many are left after it. A cascade gives messages their priority.",
  slices: "With more slices, the estimate is more exact.",
};

/** @type {Record<string, string>} */
const units = { slices: "slices" };

/** @typedef {Api.getAlgorithms["algorithms"][number]} Listed an algorithm as chatguard lists it */

/** @type {WeakMap<Listed, Algorithm>} */
const described = new WeakMap();

// algorithmNames returns the algorithms that a limit can have.
export const algorithmNames = () => state.algorithms.map(({ name }) => name);

// algorithmOf returns the algorithm of a limit. It has no fields before chatguard's list of
// algorithms is loaded, or if the algorithm isn't in it.
/** @param {{algorithm: string}} limit @returns {Algorithm} */
export function algorithmOf({ algorithm }) {
  const listed = state.algorithms.find(({ name }) => name === algorithm);
  if (!listed) return describe({ name: /** @type {Listed["name"]} */ (algorithm), parameters: [], state_bytes: 0 });
  if (!described.has(listed)) described.set(listed, describe(listed));
  return described.get(listed);
}

/** @param {Listed} of @returns {Algorithm} */
function describe({ name: algorithm, parameters }) {
  const { name, about, rule, meaning, labels: own = {} } = known[algorithm] ?? unknown(algorithm);
  const numbers = parameters.filter(({ kind }) => kind === "count" || kind === "duration");
  const fields = numbers.map((parameter) => /** @type {const} */ ([parameter.name, fieldOf(parameter, own[parameter.name])]));
  const overridable = fields.filter((_, i) => numbers[i].overridable);
  return {
    name,
    about,
    start: Object.fromEntries(numbers.filter((parameter) => !isRare(parameter)).map(({ name, kind, suggested }) => [name, kind === "duration" ? durationText(BigInt(suggested)) : suggested])),
    fields: Object.fromEntries(fields),
    ownFields: Object.fromEntries(overridable.map(([name, field]) => [name, { ...field, isRare: false, mayBeEmpty: true }])),
    hasDay: parameters.some(({ kind }) => kind === "clock"),
    rule: (numbers, limit, zone) => rule(numbers, limit, zone) + (numbers.reserve > 0 ? `; keeps ${amount(numbers.reserve)} for normal priority` : ""),
    meaning,
  };
}

/** @typedef {Listed["parameters"][number]} Parameter */

/** @param {Parameter} parameter @param {string} [label] @returns {Field} */
function fieldOf(parameter, label) {
  const { name, kind, least, most } = parameter;
  const isLength = kind === "duration", scale = isLength ? 1e9 : 1;
  return {
    label: label ?? labels[name] ?? plainName(name), unit: isLength ? "" : (units[name] ?? "messages"), isLength, least: least / scale, most: most / scale, isRare: isRare(parameter),
    about: purposes[name],
  };
}

// isRare reports whether a limit does without a parameter. Others have a suggested value above the
// least one.
/** @param {Parameter} of */
const isRare = ({ suggested, least }) => suggested <= least;

// plainName writes the name of a parameter that this page doesn't know.
/** @param {string} name */
const plainName = (name) => (name.charAt(0).toUpperCase() + name.slice(1)).replaceAll("_", " ");

// unknown describes an algorithm that this page doesn't know.
/** @param {string} algorithm @returns {Words} */
function unknown(algorithm) {
  return {
    name: algorithm,
    about: "",
    rule: (numbers) => [algorithm, ...Object.entries(numbers).map(([name, number]) => `${name.replaceAll("_", " ")} ${amount(number)}`)].join(", "),
    meaning: () => "",
  };
}

// roleFields returns the numbers of a limit that can be customised per role or user. Empty ones are
// inherited.
/** @param {{algorithm: string}} limit */
export const roleFields = (limit) => algorithmOf(limit).ownFields;

// bytesOf returns how much memory chatguard needs for one user of a limit, in bytes.
/** @param {{algorithm: string, messages?: number}} limit */
export function bytesOf({ algorithm, messages = 0 }) {
  const { state_bytes: bytes = 0, per_message: perMessage } = state.algorithms.find(({ name }) => name === algorithm) ?? {};
  return bytes + (perMessage ? 8 * messages : 0);
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
