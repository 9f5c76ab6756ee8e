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
export function ruleIn({ source, resetAt, timezone }, numbers, form) {
  const stated = { ...source, reset_at: resetAt.trim(), timezone: timezone.trim() };
  return algorithmOf(source).rule(numbers, stated, form.draft.timezone.trim());
}

// ruleOf writes the rule of a limit of the API.
/** @param {Api.Limit} limit @param {string} zone */
export function ruleOf(limit, zone) {
  const { fields, rule } = algorithmOf(limit);
  /** @type {Record<string, any>} */
  const values = limit;
  const numbers = Object.entries(fields).map(([name, { isLength }]) => [name, isLength ? seconds(values[name] ?? "") : (values[name] ?? 0)]);
  return rule(Object.fromEntries(numbers), limit, zone);
}
