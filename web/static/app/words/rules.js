// @ts-check
// The rule of a limit of the API in words: "3 messages, then one every 4 seconds".

import { algorithmOf } from "./algorithms.js";
import { seconds } from "./time.js";

// ruleOf writes the rule of a limit. zone is that of the limits around it.
/** @param {Api.Limit} limit @param {string} zone */
export function ruleOf(limit, zone) {
  const { fields, rule } = algorithmOf(limit);
  /** @type {Record<string, any>} */
  const values = limit;
  const numbers = Object.entries(fields).map(([name, { isLength }]) => [name, isLength ? seconds(values[name] ?? "") : (values[name] ?? 0)]);
  return rule(Object.fromEntries(numbers), limit, zone);
}
