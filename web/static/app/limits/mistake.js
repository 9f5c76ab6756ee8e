// @ts-check
// The field of a value that chatguard refuses although the page does not.

/** @import { Mistake } from "../core/api.js" */
/** @import { Draft } from "./draft.js" */

// fieldOf returns the ID of the field for a mistake in a draft, or nothing if the page has no field
// that can show errors. A role's numbers may contradict a number that the limit has for everyone.
/** @param {Draft} draft @param {Mistake} mistake */
export function fieldOf({ limits }, { limit, role, parameter = "" }) {
  const i = limits.findLastIndex(({ name, isRemoved }) => !isRemoved && name.trim() === limit);
  const ids = limit ? [`${parameter}-${i}-${role}`, `${parameter}-${i}`] : idsIn(parameter);
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
