// @ts-check
// The rule of a limit in words: "3 messages, then one every 4 seconds".

import { fieldsIn } from "./draft.js";
import { algorithmOf } from "../words/algorithms.js";
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

// isClear reports whether the limit's own fields have no errors.
/** @param {DraftLimit} limit @param {number} index @param {Form} form */
export function isClear(limit, index, { errors }) {
  return [...Object.keys(fieldsIn(limit)), "reset_at", "timezone"].every((field) => !errors[`${field}-${index}`]);
}

// ruleIn writes the rule of a limit that is being edited, with these numbers.
/** @param {DraftLimit} limit @param {Record<string, number>} numbers @param {Form} form */
export function ruleIn({ source, resetAt, timezone, period, firstDay, per }, numbers, form) {
  const stated = /** @type {Api.Limit} */ ({ ...source, per, reset_at: resetAt.trim(), timezone: timezone.trim(), period, first_day: firstDay });
  return algorithmOf(source).rule(numbers, stated, form.draft.timezone.trim());
}
