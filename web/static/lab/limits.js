// @ts-check
// New limits of lanes, and how many there can be.

import { algorithmOf } from "../app/words/algorithms.js";
/** @import { Limit } from "./state.js" */

export const mostLanes = 8, mostLimits = 8;

/** @type {Record<string, string>} */
const usualNames = { "token-bucket": "burst", "daily-window": "daily", "leaky-bucket": "queue", cascade: "burst" };

// titleOf names a lane by its algorithm or, if it has several limits, by their names.
/** @param {{limits: Limit[]}} lane */
export const titleOf = ({ limits }) => (limits.length === 1 ? algorithmOf(limits[0]).name : limits.map(({ name }) => name).join(" + "));

// newLimit returns a limit of an algorithm with the algorithm's suggested numbers.
/** @param {string} algorithm @param {Limit[]} [others] @returns {Limit} */
export function newLimit(algorithm, others = []) {
  const usual = usualNames[algorithm] ?? "window";
  let name = usual;
  for (let i = 2; others.some((other) => other.name === name); i++) name = `${usual}-${i}`;
  return { .../** @type {any} */ (algorithmOf({ algorithm }).start), name, algorithm };
}
