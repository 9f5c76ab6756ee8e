// @ts-check
// The kinds of traffic, with the numbers that each has.

import { parseLength } from "../app/words/lengths.js";
/** @import { Traffic } from "./state.js" */

/**
 * TrafficField is a number of a kind of traffic.
 * @typedef {object} TrafficField
 * @property {string} label
 * @property {string} unit
 * @property {string} usual
 * @property {boolean} [isLength]
 * @property {boolean} [isText]
 * @property {boolean} [mayBeEmpty]
 * @property {number} [least]
 * @property {number} [most]
 */

/**
 * @typedef {object} Kind
 * @property {string} name
 * @property {Record<string, TrafficField>} fields
 * @property {(numbers: Record<string, number>) => number} rate the messages per ms, on average
 * @property {boolean} [isRecorded] only a dashboard has it
 */

/** @type {TrafficField} */
const every = { label: "every", unit: "", usual: "20s", isLength: true };

/** @type {Record<string, Kind>} */
export const kinds = {
  hand: { name: "By hand", fields: {}, rate: () => 0 },
  steady: { name: "Steady", fields: { every: { ...every, usual: "1s" } }, rate: ({ every }) => 1 / every },
  bursts: {
    name: "Bursts",
    fields: { size: { label: "of", unit: "messages", usual: "6", least: 1, most: 10_000 }, every },
    rate: ({ size, every }) => size / every,
  },
  poisson: {
    name: "Poisson",
    fields: {
      per_minute: { label: "on average", unit: "per minute", usual: "27", least: 0.01, most: 1_000_000 },
      seed: { label: "seed", unit: "", usual: "1", least: 0, most: 2 ** 31 - 1 },
    },
    rate: ({ per_minute: perMinute }) => perMinute / 60_000,
  },
  chat: {
    name: "Chat",
    fields: {
      people: { label: "people", unit: "", usual: "20", least: 1, most: 1000 },
      every: { ...every, label: "each every" },
      spam_every: { label: "spammer every", unit: "", usual: "", isLength: true, mayBeEmpty: true },
    },
    rate: ({ people, every, spam_every: spam }) => people / every + (spam ? 1 / spam : 0),
  },
  recorded: {
    name: "Recorded",
    isRecorded: true,
    fields: {
      channel: { label: "channel", unit: "", usual: "", isText: true },
      user_id: { label: "user ID", unit: "", usual: "", isText: true },
    },
    rate: () => 0,
  },
};

// every kind of automatic traffic may also say how long it lasts and when it began.
/** @type {Record<string, TrafficField>} */
export const common = {
  for: { label: "for", unit: "", usual: "", isLength: true },
  from: { label: "from", unit: "", usual: "", isText: true },
};

// fieldsOf returns the fields of a kind of traffic, with those that links can have in addition.
/** @param {string} kind */
export const fieldsOf = (kind) => (kind === "hand" ? {} : { ...kinds[kind].fields, ...common });

// usual returns traffic of a kind with its usual numbers.
/** @param {string} kind @returns {Traffic} */
export const usual = (kind) => ({ kind, ...Object.fromEntries(Object.entries(kinds[kind].fields).filter(([, { usual }]) => usual).map(([name, { usual }]) => [name, usual])) });

// numberOf reads a field: a number, or a duration in ms. The result is NaN if the text is wrong.
/** @param {TrafficField} field @param {string} text */
export function numberOf({ isLength, least = 0, most = Infinity }, text) {
  if (isLength) {
    const ns = parseLength(text);
    return ns === null || ns <= 0n ? NaN : Number(ns) / 1e6;
  }
  const number = text.trim() === "" ? NaN : Number(text);
  return number >= least && number <= most ? number : NaN;
}

// errorOf says what is wrong with the text of a field; it is empty if nothing is.
/** @param {TrafficField} field @param {string} text */
export function errorOf(field, text) {
  if (field.isText || (field.mayBeEmpty && text === "") || !Number.isNaN(numberOf(field, text))) return "";
  return field.isLength ? "Enter a duration, such as 20 s." : `Enter a number from ${field.least} to ${field.most}.`;
}

/** @param {Traffic} traffic */
const numbersOf = ({ kind, ...texts }) => Object.fromEntries(Object.entries(kinds[kind].fields).map(([name, field]) => [name, numberOf(field, texts[name] ?? "")]));

// rateOf returns the messages per ms, on average. It is 0 if that isn't known.
/** @param {Traffic} traffic */
export const rateOf = (traffic) => kinds[traffic.kind].rate(numbersOf(traffic)) || 0;

// lengthOf returns how long traffic lasts, ms; Infinity if it doesn't end.
/** @param {Traffic} traffic */
export const lengthOf = (traffic) => (traffic.for ? numberOf(common.for, traffic.for) : Infinity);

// isClear reports whether the traffic can be made.
/** @param {Traffic} traffic */
export const isClear = (traffic) => Object.entries(kinds[traffic.kind].fields).every(([name, field]) => !errorOf(field, traffic[name] ?? ""));

// asked returns traffic as the server is asked for it, without its start and its duration.
/** @param {Traffic} traffic @returns {Record<string, string | number>} */
export function asked({ kind, for: _, from: __, ...texts }) {
  const given = Object.entries(kinds[kind].fields).filter(([name]) => texts[name]);
  return { kind, ...Object.fromEntries(given.map(([name, field]) => [name, field.isText ? texts[name] : field.isLength ? `${numberOf(field, texts[name])}ms` : numberOf(field, texts[name])])) };
}
