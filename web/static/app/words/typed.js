// @ts-check
// The numbers of a limit as texts that a person types, and what is wrong with a text.

import { amount } from "./algorithms.js";
import { seconds } from "./time.js";
/** @import { Field, Fields } from "./algorithms.js" */

/** @typedef {Record<string, string>} Texts numbers as they are typed, by field */

// textsOf returns the numbers of a limit, or of a role in it, as texts to edit.
/** @param {Fields} fields @param {Record<string, any>} source @returns {Texts} */
export function textsOf(fields, source) {
  /** @type {Texts} */
  const texts = {};
  for (const [name, { isLength, least, mayBeEmpty }] of Object.entries(fields)) {
    const value = source[name] ?? (least === 0 && !mayBeEmpty ? 0 : "");
    texts[name] = String(isLength && value ? seconds(value) : value);
  }
  return texts;
}

// numbersOf returns the source with the numbers typed. Numbers that weren't edited stay exactly as
// they were.
/**
 * @param {Fields} fields
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
    else numbers[name] = isLength ? text + "s" : Number(text);
  }
  return numbers;
}

// wrongNumber returns what is wrong with a number, in words for moderators, or an empty text.
/** @param {Field} of @param {string} typed */
export function wrongNumber({ isLength, least, most, mayBeEmpty }, typed) {
  const text = typed.trim(), number = Number(text);
  if (text === "" && mayBeEmpty) return "";
  const isNumber = isLength ? /^\d*\.?\d+$/ : /^\d+$/;
  if (!isNumber.test(text) || number < least) {
    return `Enter a ${isLength ? "number of seconds" : "whole number"}, ${least} or more.${mayBeEmpty ? " Leave empty to inherit." : ""}`;
  }
  return number > most ? `Enter at most ${amount(most)}.` : "";
}

// wrongZone does the same for a time zone.
/** @param {string} name */
export function wrongZone(name) {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name.trim() || "UTC" });
    return "";
  } catch {
    return "Enter a time zone, such as Europe/Berlin.";
  }
}
