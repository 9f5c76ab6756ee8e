// @ts-check
// The algorithms in words: names and descriptions, labels of the numbers, and what numbers mean.
// Which numbers an algorithm has, with their bounds, comes from chatguard.

import { number, t, table } from "../../text/text.js";
import { state } from "../core/state.js";
import { durationText } from "./lengths.js";
import { isText } from "./scopes.js";
import { length, weekdayName } from "./time.js";

/** @import { TextKey } from "../../text/text.js" */

/**
 * Bounds say which values a number has. least and most of a duration are in seconds.
 * @typedef {object} Bounds
 * @property {boolean} isLength it is a duration
 * @property {number} least
 * @property {number} most
 * @property {boolean} [mayBeEmpty] an empty one is inherited
 * @property {boolean} [isRare] most limits do without it; unless stated, it is the least value
 * @property {number} [usual] its value unless stated, if that isn't the least value
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
 * @property {Sentence} [brief] the rule without when the allowance comes back
 * @property {Sentence} [same] the rule of a limit on repeated text
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
 * @property {boolean} hasDay its window is a day, week or month, which ends at a time of a time zone
 * @property {Record<string, string[]>} choices the values of parameters that are a choice of names
 * @property {Listed["parameters"]} textParameters what only limits on repeated text have; empty if
 *   these can't have the algorithm
 * @property {Sentence} rule
 * @property {Sentence} brief
 * @property {Sentence} meaning
 */

/** @type {Record<string, () => Words>} */
const known = {
  "token-bucket": () => ({
    name: t("rules.token-bucket"),
    about: t("rules.token-bucket-about"),
    rule: ({ burst, refill }) => (burst === 1 ? t("rules.one-every", { every: every(refill) }) : t("rules.token-bucket-rule", { n: burst, every: every(refill) })),
    same: ({ burst, refill }) => (burst === 1 ? t("rules.same-once", { every: every(refill) }) : t("rules.same-token-bucket", { times: times(burst), every: every(refill) })),
    meaning: ({ burst, refill }) => {
      const rate = longRun(1, refill);
      return burst > 1 ? t("rules.token-bucket-meaning-burst", { n: burst, rate, length: length(burst * refill) }) : t("rules.token-bucket-meaning", { rate });
    },
  }),
  "leaky-bucket": () => ({
    name: t("rules.leaky-bucket"),
    labels: { every: t("rules.label-every-message") },
    about: t("rules.leaky-bucket-about"),
    rule: ({ every: time, queue }) =>
      queue > 0 ? t("rules.leaky-bucket-rule-queue", { n: queue, every: every(time) }) : t("rules.one-every", { every: every(time) }),
    meaning: ({ every, queue }) => {
      const rate = longRun(1, every);
      if (queue === 0) return t("rules.leaky-bucket-meaning", { rate, length: length(every) });
      return t("rules.leaky-bucket-meaning-queue", { n: queue + 1, rate, length: length(queue * every) });
    },
  }),
  "fixed-window": () => ({
    name: t("rules.fixed-window"),
    about: t("rules.fixed-window-about"),
    rule: ({ messages, every: time }) => t("rules.fixed-window-rule", { n: messages, every: every(time) }),
    same: ({ messages, every: time }) => t("rules.same-fixed-window", { times: times(messages), every: every(time) }),
    meaning: ({ messages, every }) => t("rules.fixed-window-meaning", { n: 2 * messages, rate: longRun(messages, every) }),
  }),
  "daily-window": () => ({
    name: t("rules.daily-window"),
    labels: { messages: t("rules.label-messages-period") },
    about: t("rules.daily-window-about"),
    rule: ({ messages }, limit, zone) => {
      const { period, first_day: first } = limit, end = endOfDay(limit, zone);
      if (period === "week") return t("rules.weekly-window-rule", { n: messages, day: weekdayName(first || "monday"), end });
      return t(period === "month" ? "rules.monthly-window-rule" : "rules.daily-window-rule", { n: messages, end });
    },
    same: ({ messages }, limit, zone) => {
      const { period, first_day: first } = limit, values = { times: times(messages), end: endOfDay(limit, zone) };
      if (period === "week") return t("rules.same-week", { ...values, day: weekdayName(first || "monday") });
      return t(period === "month" ? "rules.same-month" : "rules.same-day", values);
    },
    brief: ({ messages }, { period }) => {
      if (period === "week") return t("rules.weekly-window-brief", { n: messages });
      return t(period === "month" ? "rules.monthly-window-brief" : "rules.daily-window-brief", { n: messages });
    },
    meaning: () => "",
  }),
  "user-window": () => ({
    name: t("rules.user-window"),
    about: t("rules.user-window-about"),
    rule: ({ messages, every }) => t("rules.user-window-rule", { n: messages, length: length(every) }),
    brief: ({ messages, every }) => t("rules.user-window-brief", { n: messages, length: length(every) }),
    same: ({ messages, every }) => t("rules.same-user-window", { times: times(messages), length: length(every) }),
    meaning: ({ messages, every }) => t("rules.user-window-meaning", { rate: longRun(messages, every), length: length(every) }),
  }),
  "sliding-window": () => ({
    name: t("rules.sliding-window"),
    about: t("rules.sliding-window-about"),
    rule: ({ messages, every, slices }) =>
      slices > 1 ? t("rules.sliding-window-rule-slices", { n: messages, any: any(every), slices }) : t("rules.sliding-window-rule", { n: messages, any: any(every) }),
    same: ({ messages, every, slices }) => t(slices > 1 ? "rules.same-slices" : "rules.same-sliding-window", { times: times(messages), any: any(every), slices }),
    meaning: ({ messages, every, slices }) => {
      const rate = longRun(messages, every);
      return slices > 1 ? t("rules.sliding-window-meaning-slices", { rate }) : t("rules.sliding-window-meaning", { rate });
    },
  }),
  "sliding-log": () => ({
    name: t("rules.sliding-log"),
    about: t("rules.sliding-log-about"),
    rule: ({ messages, every }) => t("rules.sliding-log-rule", { n: messages, any: any(every) }),
    same: ({ messages, every }) => t("rules.same-sliding-log", { times: times(messages), any: any(every) }),
    meaning: ({ messages, every }) => t("rules.sliding-log-meaning", { rate: longRun(messages, every), length: length(every) }),
  }),
  cascade: () => ({
    name: t("rules.cascade"),
    about: t("rules.cascade-about"),
    rule: ({ burst, refill, extra_burst: extra, extra_refill: extraRefill }) =>
      t("rules.cascade-rule", { n: burst, every: every(refill), extra, extraEvery: every(extraRefill) }),
    same: ({ burst, refill, extra_burst: extra, extra_refill: extraRefill }) =>
      t("rules.same-cascade", { times: times(burst), every: every(refill), extraTimes: times(extra), extraEvery: every(extraRefill) }),
    meaning: ({ refill, extra_refill: extraRefill }) => t("rules.cascade-meaning", { rate: longRun(1, refill), extraRate: longRun(1, extraRefill) }),
  }),
};

// labels are the usual labels of numbers.
/** @type {Record<string, string>} */
const labels = table({
  burst: "rules.label-burst", refill: "rules.label-refill", queue: "rules.label-queue", messages: "rules.label-messages", every: "rules.label-every",
  extra_burst: "rules.label-extra-burst", extra_refill: "rules.label-extra-refill", reserve: "rules.label-reserve", slices: "rules.label-slices",
  from_length: "rules.label-from-length",
});

// purposes say what rare numbers are for.
/** @type {Record<string, string>} */
const purposes = table({ reserve: "rules.about-reserve", slices: "rules.about-slices", from_length: "rules.about-from-length" });

/** @typedef {Api.getAlgorithms["algorithms"][number]} Listed an algorithm as chatguard lists it */

/** @type {WeakMap<Listed, Algorithm>} */
const described = new WeakMap();

// usual are the algorithms, from what most people look for to what few need.
const usual = ["token-bucket", "sliding-log", "daily-window", "user-window", "fixed-window", "sliding-window", "leaky-bucket", "cascade"];

// algorithmNames returns the algorithms that a limit can have. Those that this page doesn't know
// come last.
export function algorithmNames() {
  const names = state.algorithms.map(({ name }) => name);
  return [...usual.filter((name) => names.some((listed) => listed === name)), ...names.filter((name) => !usual.includes(name))];
}

// algorithmOf returns the algorithm of a limit. It has no fields before chatguard's list of
// algorithms is loaded, or if the algorithm isn't in it.
/** @param {{algorithm: string}} limit @returns {Algorithm} */
export function algorithmOf({ algorithm }) {
  const listed = state.algorithms.find(({ name }) => name === algorithm);
  if (!listed) return describe({ name: /** @type {Listed["name"]} */ (algorithm), parameters: [], text_parameters: [], state_bytes: 0 });
  if (!described.has(listed)) described.set(listed, describe(listed));
  return described.get(listed);
}

/** @param {Listed} of @returns {Algorithm} */
function describe({ name: algorithm, parameters, text_parameters: textParameters = [] }) {
  const { name, about, rule, brief = rule, same = rule, meaning, labels: own = {} } = known[algorithm]?.() ?? unknown(algorithm);
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
    choices: Object.fromEntries(parameters.filter(({ choices }) => choices).map(({ name, choices }) => [name, choices])),
    textParameters,
    rule: (numbers, limit, zone) => {
      const words = (isText(limit) ? same : rule)(numbers, limit, zone);
      return numbers.reserve > 0 ? t("rules.reserve-rule", { n: numbers.reserve, rule: words }) : words;
    },
    brief: (numbers, limit, zone) => (isText(limit) ? same : brief)(numbers, limit, zone),
    meaning: (numbers, limit, zone) => (isText(limit) ? "" : meaning(numbers, limit, zone)), // rates are of a user
  };
}

// fieldsOf returns the numbers of a limit: those of its algorithm and, if it is on repeated text,
// of that.
/** @param {{algorithm: string, per?: string}} limit @returns {Fields} */
export function fieldsOf({ algorithm, per }) {
  const { fields } = algorithmOf({ algorithm });
  return { ...fields, ...Object.fromEntries(textParametersOf({ algorithm, per }, "count").map((parameter) => [parameter.name, textField(parameter)])) };
}

/** @param {Parameter} parameter @returns {Field} */
const textField = (parameter) => ({ ...fieldOf(parameter), unit: t("rules.unit-characters"), isRare: false, usual: parameter.suggested });

// switchesOf returns the names of what a limit has or hasn't, because it is on repeated text.
/** @param {{algorithm: string, per?: string}} limit */
export const switchesOf = (limit) => textParametersOf(limit, "switch").map(({ name }) => name);

/** @param {{algorithm: string, per?: string}} limit @param {Parameter["kind"]} wanted */
const textParametersOf = ({ algorithm, per }, wanted) => algorithmOf({ algorithm }).textParameters.filter(({ kind, scopes }) => kind === wanted && scopes.some((scope) => scope === per));

// scopesOf returns the scopes that a limit of an algorithm can have in a channel.
/** @param {{algorithm: string}} limit */
export const scopesOf = (limit) => ["user", "channel", ...["user-text", "text"].filter((per) => textParametersOf({ ...limit, per }, "switch").length > 0)];

/** @typedef {Listed["parameters"][number]} Parameter */

/** @param {Parameter} parameter @param {string} [label] @returns {Field} */
function fieldOf(parameter, label) {
  const { name, kind, least, most } = parameter;
  const isLength = kind === "duration", scale = isLength ? 1e9 : 1;
  const unit = isLength ? "" : name === "slices" ? t("rules.unit-slices") : t("rules.unit-messages");
  return { label: label ?? labels[name] ?? plainName(name), unit, isLength, least: least / scale, most: most / scale, isRare: isRare(parameter), about: purposes[name] };
}

// isRare reports whether most limits do without a parameter: the suggested value is the least one.
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

// times writes how often a message may be repeated: "once", "3 times".
/** @param {number} n */
const times = (n) => t("rules.times", { n });

// every writes how often something happens: "every minute", "every 5 minutes".
/** @param {number} time seconds */
function every(time) {
  switch (time) {
    case 1: return t("rules.every-second");
    case 60: return t("rules.every-minute");
    case 3600: return t("rules.every-hour");
    case 86400: return t("rules.every-day");
  }
  return t("rules.every-length", { length: length(time) });
}

// any writes a period that may begin at any time: "any minute", "any 5 minutes".
/** @param {number} time seconds */
function any(time) {
  switch (time) {
    case 1: return t("rules.any-second");
    case 60: return t("rules.any-minute");
    case 3600: return t("rules.any-hour");
    case 86400: return t("rules.any-day");
  }
  return t("rules.any-length", { length: length(time) });
}

/** @param {Partial<Api.Limit>} limit @param {string} zone */
function endOfDay({ reset_at: at, timezone }, zone) {
  const place = timezone || zone || "UTC", isMidnight = !at || at === "00:00";
  if (place === "UTC") return isMidnight ? t("rules.midnight-utc") : t("rules.time-utc", { time: at });
  return isMidnight ? t("rules.midnight-in", { zone: place }) : t("rules.time-in", { time: at, zone: place });
}

// periodNames are what a daily window counts by.
/** @type {Record<string, string>} */
export const periodNames = table({ day: "rules.period-day", week: "rules.period-week", month: "rules.period-month" });

// amount writes a number of messages: "15,750".
/** @param {number} messages */
export const amount = (messages) => number.format(messages);

/** @type {[TextKey, number][]} */
const spans = [["rules.per-minute", 60], ["rules.per-hour", 3600], ["rules.per-day", 86400], ["rules.per-week", 604800]];

// longRun writes a rate: "200,000 per day". It uses the shortest span that allows at least one
// message and is at least as long as the given time. A time over a day counts as a day.
/** @param {number} messages @param {number} seconds */
function longRun(messages, seconds) {
  const span = spans.find(([, long]) => long >= Math.min(seconds, 86400) && messages * long >= seconds);
  if (!span) return t("rules.per-length", { amount: messages, length: length(seconds) });
  const exact = Number(((messages * span[1]) / seconds).toPrecision(12));
  const shown = Number.isInteger(exact) ? exact : Number(exact.toPrecision(3));
  const rate = t(span[0], { amount: shown });
  return shown === exact ? rate : t("rules.about-rate", { rate });
}
