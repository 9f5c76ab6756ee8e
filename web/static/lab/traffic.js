// @ts-check
// The kinds of traffic, with the numbers that each has.

import { commas, t } from "../text/text.js";
import { parseLength } from "../app/words/lengths.js";
import { chatTexts } from "./chat/people.js";
/** @import { TextKey } from "../text/text.js" */
/** @import { LabChannel, Traffic } from "./state.js" */

/**
 * TrafficField is a number of a kind of traffic.
 * @typedef {object} TrafficField
 * @property {string} usual
 * @property {TextKey} [phrase] the words around the field
 * @property {boolean} [isLength]
 * @property {boolean} [isText]
 * @property {boolean} [mayBeEmpty]
 * @property {TextKey} [ask] what is asked for if an empty text is wrong
 * @property {TextKey} [spoken] the label for screen readers, if there is no other
 * @property {TextKey} [hint] what to type
 * @property {string[]} [oneOf] what a text can be
 * @property {number} [least]
 * @property {number} [most]
 */

/**
 * @typedef {object} Kind
 * @property {TextKey} name
 * @property {Record<string, TrafficField>} fields
 * @property {(numbers: Record<string, number>) => number} rate the messages per ms, on average
 * @property {boolean} [isRecorded] it needs a channel with recorded traffic, and has times of its own
 */

/** @type {TrafficField} */
const every = { phrase: "lab.traffic-every", usual: "20s", isLength: true };

/** @type {Record<string, Kind>} */
export const kinds = {
  hand: { name: "lab.traffic-hand", fields: {}, rate: () => 0 },
  steady: { name: "lab.traffic-steady", fields: { every: { ...every, usual: "1s" } }, rate: ({ every }) => 1 / every },
  bursts: {
    name: "lab.traffic-bursts",
    fields: { size: { phrase: "lab.traffic-size", usual: "6", least: 1, most: 10_000 }, every },
    rate: ({ size, every }) => size / every,
  },
  poisson: {
    name: "lab.traffic-poisson",
    fields: {
      per_minute: { phrase: "lab.traffic-mean", usual: "27", least: 0.01, most: 1_000_000 },
      seed: { phrase: "lab.traffic-seed", usual: "1", least: 0, most: 2 ** 31 - 1 },
    },
    rate: ({ per_minute: perMinute }) => perMinute / 60_000,
  },
  chat: {
    name: "lab.traffic-chat",
    fields: {
      people: { phrase: "lab.traffic-people", usual: "20", least: 1, most: 1000 },
      every: { ...every, phrase: "lab.traffic-each" },
      spam_every: { phrase: "lab.traffic-spam", usual: "", isLength: true, mayBeEmpty: true },
      spammers: { phrase: "lab.traffic-spammers", usual: "", least: 1, most: 1000, mayBeEmpty: true },
    },
    rate: ({ people, every, spam_every: spam }) => people / every + (spam ? 1 / spam : 0),
  },
  recorded: {
    name: "lab.traffic-recorded",
    isRecorded: true,
    fields: {
      channel: { phrase: "lab.traffic-channel", usual: "", isText: true, ask: "lab.choose-channel" },
      user_id: { phrase: "lab.traffic-user", usual: "", isText: true, mayBeEmpty: true, hint: "lab.id-or-login" },
      stretch: { usual: "", isText: true, mayBeEmpty: true, spoken: "lab.traffic-part", oneOf: ["last"] },
      for: { usual: "10m", isLength: true, spoken: "lab.traffic-duration" },
    },
    rate: () => 0,
  },
};

// every kind of automatic traffic may also say how long it lasts and when it began.
/** @type {Record<string, TrafficField>} */
export const common = {
  for: { usual: "", isLength: true },
  from: { usual: "", isText: true },
};

// fieldsOf returns the fields of a kind of traffic, and those that only links have.
/** @param {string} kind */
export const fieldsOf = (kind) => (kind === "hand" ? {} : { ...common, ...kinds[kind].fields });

// usual returns traffic of a kind with its usual numbers. Recorded traffic is that of the first
// channel.
/** @param {string} kind @param {LabChannel[]} channels @returns {Traffic} */
export const usual = (kind, channels) =>
  withChannel({ kind, ...Object.fromEntries(Object.entries(kinds[kind].fields).filter(([, { usual }]) => usual).map(([name, { usual }]) => [name, usual])) }, channels);

// withChannel returns traffic with a channel if it needs one and has none.
/** @param {Traffic} traffic @param {LabChannel[]} channels @returns {Traffic} */
export const withChannel = (traffic, channels) => (kinds[traffic.kind].isRecorded && !traffic.channel && channels.length > 0 ? { ...traffic, channel: channels[0].id } : traffic);

/** @typedef {[value: string, text: string]} Choice */

// choicesOf returns the choices of a field of traffic, or null if its text is typed. They include
// the value from a link, even if it is unknown.
/** @param {string} name @param {Traffic} traffic @param {LabChannel[]} channels @returns {Choice[] | null} */
export function choicesOf(name, { kind, channel, from }, channels) {
  if (!kinds[kind].isRecorded) return null;
  if (name === "stretch") return [...(from ? [/** @type {Choice} */ (["from", t("lab.stretch-from", { time: from })])] : []), ["", t("lab.stretch-busiest")], ["last", t("lab.stretch-last")]];
  if (name !== "channel") return null;
  /** @type {Choice[]} */
  const known = channels.map(({ id, login }) => [id, login || id]);
  return known.some(([id]) => id === channel) ? known : [[channel ?? "", channel || t("lab.choose")], ...known];
}

// chosenOf returns the text of a field as it is shown.
/** @param {string} name @param {Traffic} traffic */
export const chosenOf = (name, traffic) => (name === "stretch" && traffic.from ? "from" : (traffic[name] ?? ""));

// withField returns traffic with another text in a field. A chosen stretch replaces the start.
/** @param {Traffic} traffic @param {string} name @param {string} text @returns {Traffic} */
export const withField = (traffic, name, text) => ({ ...traffic, [name]: text, ...(name === "stretch" && { from: "" }) });

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
  if (field.isText && text === "") return field.ask ? t(field.ask) : "";
  if (field.isText) return !field.oneOf || field.oneOf.includes(text) ? "" : t("lab.enter-one-of", { values: commas(field.oneOf) });
  if ((field.mayBeEmpty && text === "") || !Number.isNaN(numberOf(field, text))) return "";
  return field.isLength ? t("lab.enter-traffic-duration") : t("lab.enter-number", { least: field.least, most: field.most });
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

// stretchOf returns the part of recorded traffic to request from the server.
/** @param {Traffic} traffic @returns {Record<string, string>} */
export function stretchOf({ stretch, from, for: length }) {
  const ms = `${numberOf(common.for, length || "10m")}ms`;
  return from ? { from, for: ms } : stretch === "last" ? { last: ms } : { busiest: ms };
}

// asked returns traffic in the form of a request, without its start and its duration. The texts of
// a chat are those that the page shows.
/** @param {Traffic} traffic @returns {Record<string, string | number | string[]>} */
export function asked({ kind, for: _, from: __, stretch: ___, ...texts }) {
  const given = Object.entries(kinds[kind].fields).filter(([name]) => texts[name]);
  return { kind, ...(kind === "chat" && chatTexts(Number(texts.spammers) > 1)), ...Object.fromEntries(given.map(([name, field]) => [name, field.isText ? texts[name] : field.isLength ? `${numberOf(field, texts[name])}ms` : numberOf(field, texts[name])])) };
}
