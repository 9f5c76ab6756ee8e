// @ts-check
// The rule of a limit of the API in words: "3 messages, then one every 4 seconds".

import { algorithmOf } from "./algorithms.js";
import { seconds } from "./time.js";

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
