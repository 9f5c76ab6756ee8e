// @ts-check
// A user's custom limits as they are edited.

import { roleFields } from "../words/algorithms.js";
import { numbersOf, textsOf, wrongNumber, wrongZone } from "../words/typed.js";
/** @import { Mistake } from "../core/api.js" */
/** @import { Card } from "./people.js" */
/** @import { Texts } from "../words/typed.js" */

/**
 * @typedef {object} OverrideDraft
 * @property {string} exempt
 * @property {string} until in the browser's time zone and the format of a datetime-local field;
 *   empty for no end
 * @property {string} zone
 * @property {Record<string, Texts>} limits
 */

// ownLimits returns the limits in which a user can have custom numbers.
/** @param {Card} card */
export function ownLimits(card) {
  return card.limits.filter(({ per }) => !per || per === "user");
}

/** @param {Card} card */
export function overrideDraft(card) {
  const { exempt = "by-role", exempt_until: until, timezone: zone = "", limits = {} } = card.override;
  return {
    exempt,
    until: until ? fieldTime(new Date(until)) : "",
    zone,
    limits: Object.fromEntries(ownLimits(card).map((limit) => [limit.name, textsOf(roleFields(limit), limits[limit.name] ?? {})])),
  };
}

/** @param {number} number */
const two = (number) => String(number).padStart(2, "0");

/** @param {Date} at */
function fieldTime(at) {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

// overrideErrors returns the errors of a draft, by the field's ID.
/** @param {OverrideDraft} of @param {Card} card */
export function overrideErrors({ zone, limits }, card) {
  /** @type {Record<string, string>} */
  const errors = {};
  if (wrongZone(zone)) errors.zone = wrongZone(zone);
  for (const limit of ownLimits(card)) {
    for (const [name, field] of Object.entries(roleFields(limit))) {
      const error = wrongNumber(field, limits[limit.name]?.[name] ?? "");
      if (error) errors[`${name}-${limit.name}`] = error;
    }
  }
  return errors;
}

// overrideField returns the key of a refused value among the errors, or nothing.
/** @param {Mistake} of @param {Card} card @returns {string | undefined} */
export function overrideField({ limit: name, parameter = "" }, card) {
  if (!name) return parameter === "timezone" ? "zone" : undefined;
  const limit = ownLimits(card).find((own) => own.name === name);
  return limit && parameter in roleFields(limit) ? `${parameter}-${name}` : undefined;
}

// overrideOf returns the override that a draft describes. It is empty for a user without custom
// limits. Values that weren't edited stay exactly as they were.
/** @param {OverrideDraft} of @param {Card} card @returns {Api.UserOverride} */
export function overrideOf({ exempt, until, zone, limits }, card) {
  /** @type {Record<string, any>} */
  const own = {};
  if (exempt !== "by-role") own.exempt = exempt;
  if (exempt !== "by-role" && until) own.exempt_until = untilOf(until, card.override.exempt_until);
  if (zone.trim()) own.timezone = zone.trim();
  const numbers = ownLimits(card)
    .filter(({ name }) => limits[name]) // a limit may be newer than the draft
    .map((limit) => [limit.name, numbersOf(roleFields(limit), card.override.limits?.[limit.name] ?? {}, limits[limit.name])])
    .filter(([, values]) => Object.keys(values).length > 0);
  if (numbers.length > 0) own.limits = Object.fromEntries(numbers);
  return own;
}

/** @param {string} text @param {string | undefined} former */
const untilOf = (text, former) => (former && text === fieldTime(new Date(former)) ? former : new Date(text).toISOString());
