// @ts-check
// The field of a value that chatguard refuses although the page does not.

/** @import { Mistake } from "../core/api.js" */
/** @import { Draft } from "./draft.js" */

/** @type {Record<string, string>} */
const outside = { timezone: "zone", "penalties.strike_every": "strike_every", "penalties.forget_after": "forget_after" };

// fieldOf returns the ID of the field that a draft has for a mistake, or nothing.
/** @param {Draft} draft @param {Mistake} mistake @returns {string | undefined} */
export function fieldOf({ limits }, { limit, role, parameter = "" }) {
  if (!limit) return outside[parameter];
  const i = limits.findLastIndex(({ name, isRemoved }) => !isRemoved && name.trim() === limit);
  if (i < 0) return undefined;
  const own = limits[i].roles.find((row) => row.role === role);
  if (own && parameter in own.texts) return `${parameter}-${i}-${role}`; // otherwise the role's numbers contradict the limit's
  return parameter in limits[i].texts || parameter === "timezone" || parameter === "reset_at" ? `${parameter}-${i}` : undefined;
}
