// @ts-check
// New limits of lanes, and how many there can be.

import { algorithmOf, fieldsOf, scopesOf, switchesOf } from "../app/words/algorithms.js";
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

// withScope returns the limit with another scope. What only limits on repeated text have stays if
// the new scope has it, too.
/** @param {Limit} limit @param {string} per @returns {Limit} */
export function withScope({ per: _, ...limit }, per) {
  const had = algorithmOf(limit).textParameters.map(({ name }) => name), has = [...Object.keys(fieldsOf({ ...limit, per })), ...switchesOf({ ...limit, per })];
  const kept = Object.entries(limit).filter(([name]) => !had.some((one) => one === name) || has.includes(name));
  return /** @type {Limit} */ ({ ...Object.fromEntries(kept), ...(per !== "user" && { per }) });
}

// withAlgorithm returns a new limit with the scope of another one, if its algorithm can have that.
/** @param {Limit} limit @param {Limit} fresh @returns {Limit} */
export function withAlgorithm(limit, fresh) {
  const per = limit.per ?? "user";
  return scopesOf(fresh).includes(per) ? withScope({ ...textValues(limit), ...fresh }, per) : fresh;
}

// textValues returns what only limits on repeated text have.
/** @param {Limit} limit */
const textValues = (limit) => Object.fromEntries(Object.entries(limit).filter(([name]) => algorithmOf(limit).textParameters.some((parameter) => parameter.name === name)));
