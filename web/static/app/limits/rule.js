// @ts-check
// The rule of a limit in words: "3 messages, then one every 4 seconds".

import { algorithmOf } from "../words/algorithms.js";
import { seconds } from "../words/time.js";
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

// isClear reports whether the limit's own fields have no errors.
/** @param {DraftLimit} limit @param {number} index @param {Form} form */
export function isClear({ source }, index, { errors }) {
  return [...Object.keys(algorithmOf(source).fields), "reset_at", "timezone"].every((field) => !errors[`${field}-${index}`]);
}

// ruleIn writes the rule of a limit that is being edited, with these numbers.
/** @param {DraftLimit} limit @param {Record<string, number>} numbers @param {Form} form */
export function ruleIn({ source, resetAt, timezone, period, firstDay }, numbers, form) {
  const stated = /** @type {Api.Limit} */ ({ ...source, reset_at: resetAt.trim(), timezone: timezone.trim(), period, first_day: firstDay });
  return algorithmOf(source).rule(numbers, stated, form.draft.timezone.trim());
}

// ruleOf writes the rule of a limit of the API.
/** @param {Api.Limit} limit @param {string} zone */
export const ruleOf = (limit, zone) => algorithmOf(limit).rule(numbersOf(limit), limit, zone);

// briefOf does the same, but leaves out when the allowance comes back.
/** @param {Api.Limit} limit */
export const briefOf = (limit) => algorithmOf(limit).brief(numbersOf(limit), limit, "");

// numbersOf returns the numbers of a limit of the API. Durations are in seconds.
/** @param {Api.Limit} limit @returns {Record<string, number>} */
function numbersOf(limit) {
  /** @type {Record<string, any>} */
  const values = limit;
  return Object.fromEntries(Object.entries(algorithmOf(limit).fields).map(([name, { isLength }]) => [name, isLength ? seconds(values[name] ?? "") : (values[name] ?? 0)]));
}
