// @ts-check
// The numbers of a limit as texts that a person types, and what is wrong with a text.

import { sentences, t } from "../../text/text.js";
import { lengthText, nanoseconds, parseLength, typedDuration } from "./lengths.js";
import { length } from "./time.js";
/** @import { Bounds } from "./algorithms.js" */

const day = 86_400; // seconds

/** @typedef {Record<string, string>} Texts numbers and lengths of time as they are typed, by field */

// textsOf returns the numbers of a limit, or of a role in it, as texts to edit.
/** @param {Record<string, Bounds>} fields @param {Record<string, any>} source @returns {Texts} */
export function textsOf(fields, source) {
  /** @type {Texts} */
  const texts = {};
  for (const [name, { isLength, isRare, usual, least, mayBeEmpty }] of Object.entries(fields)) {
    const value = source[name] ?? usual ?? (isRare || (least === 0 && !mayBeEmpty) ? least : "");
    texts[name] = isLength && value !== "" ? lengthText(nanoseconds(String(value))) : String(value);
  }
  return texts;
}

// numbersOf returns the source with the numbers typed. Numbers that weren't edited stay exactly as
// they were.
/**
 * @param {Record<string, Bounds>} fields
 * @param {Record<string, any>} source
 * @param {Texts} texts
 * @returns {Record<string, any>}
 */
export function numbersOf(fields, source, texts) {
  const known = textsOf(fields, source);
  const numbers = { ...source };
  for (const [name, { isLength }] of Object.entries(fields)) {
    const text = texts[name].trim();
    if (text === known[name]) continue;
    if (text === "") delete numbers[name];
    else numbers[name] = isLength ? typedLength(text, source[name]) : Number(text);
  }
  return numbers;
}

// typedLength returns a duration for the API. It keeps the former text if both are the same
// duration.
/** @param {string} text @param {string | undefined} former */
function typedLength(text, former) {
  return former && nanoseconds(former) === parseLength(text) ? former : typedDuration(text);
}

// numbersIn returns the numbers typed; durations are in seconds. A wrong number is NaN. Empty ones
// are left out.
/** @param {Record<string, Bounds>} fields @param {Texts} texts */
export function numbersIn(fields, texts) {
  const typed = Object.entries(fields).filter(([name]) => texts[name].trim() !== "");
  return Object.fromEntries(typed.map(([name, field]) => {
    if (wrongNumber(field, texts[name])) return [name, NaN];
    return [name, field.isLength ? Number(parseLength(texts[name])) / 1e9 : Number(texts[name])];
  }));
}

// wrongNumber returns what is wrong with a number or a duration, in words for moderators, or an
// empty text.
/** @param {Bounds} field @param {string} typed */
export function wrongNumber(field, typed) {
  const text = typed.trim();
  if (text === "" && field.mayBeEmpty) return "";
  const error = field.isLength ? wrongLength(field, text) : wrongCount(field, text);
  return error && field.mayBeEmpty ? sentences(error, t("rules.leave-empty")) : error;
}

const huge = 2 ** 30; // a bound that nobody needs to know

/** @param {Bounds} of @param {string} text */
function wrongCount({ least, most }, text) {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= least && number <= most) return "";
  if (most < huge) return t("rules.wrong-range", { least, most });
  return number > most ? t("rules.too-much", { most }) : t("rules.wrong-count", { least });
}

/** @param {Bounds} of @param {string} text */
function wrongLength({ least, most }, text) {
  const ns = parseLength(text);
  if (ns === null) return t("rules.wrong-length");
  const time = Number(ns) / 1e9;
  if (time < least) return t("rules.too-little", { least: length(least) });
  return time > most ? t("rules.too-much", { most: length(most > day ? most - (most % day) : most) }) : "";
}

// wrongZone does the same for a time zone.
/** @param {string} name */
export function wrongZone(name) {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name.trim() || "UTC" });
    return "";
  } catch {
    return t("rules.wrong-zone");
  }
}
