// @ts-check
// The field of a value that chatguard refuses although the page does not.

/** @import { Mistake } from "../core/api.js" */

// fieldOf returns the ID of the field for a mistake in a draft, or nothing if the page has no field
// that can show errors. A role's numbers may contradict a number that the limit has for everyone.
// idOf returns the ID of the field of limit i.
/**
 * @param {{limits: {name: string, isRemoved?: boolean}[]}} draft
 * @param {Mistake} mistake
 * @param {(parameter: string, i: number) => string} [idOf]
 */
export function fieldOf({ limits }, { limit, role, parameter = "" }, idOf = (parameter, i) => `${parameter}-${i}`) {
  const i = limits.findLastIndex(({ name, isRemoved }) => !isRemoved && name.trim() === limit);
  const ids = limit ? [`${idOf(parameter, i)}-${role}`, idOf(parameter, i)] : idsIn(parameter);
  return ids.find((id) => document.getElementById(`${id}-error`));
}

// idsIn returns the IDs of the fields of a policy's value. A step of the ladder may have two: its
// length and its penalty.
/** @param {string} parameter */
function idsIn(parameter) {
  const [, rung] = /^penalties\.ladder\[(\d+)\]$/.exec(parameter) ?? [];
  if (rung) return [`rung-${rung}`, `rung-${rung}-action`];
  return [parameter === "timezone" ? "zone" : parameter.replace("penalties.", "")];
}
