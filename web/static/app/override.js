// What a user has of their own, as it is edited: {exempt, until, zone, limits: {name: texts by field}}. until is as a browser's field for dates and
// times has it, in the browser's zone; empty for an exemption without an end.

import { roleFields } from "./algorithms.js";
import { numbersOf, textsOf } from "./draft.js";
import { wrongNumber, wrongZone } from "./draft-errors.js";

// ownLimits are the limits in which a user can have numbers of their own in one channel.
export function ownLimits(card) {
  return card.limits.filter(({ per }) => !per || per === "user");
}

export function overrideDraft(card) {
  const { exempt = "by-role", exempt_until: until, timezone: zone = "", limits = {} } = card.override;
  return {
    exempt,
    until: until ? fieldTime(new Date(until)) : "",
    zone,
    limits: Object.fromEntries(ownLimits(card).map((limit) => [limit.name, textsOf(roleFields(limit), limits[limit.name] ?? {})])),
  };
}

const two = (number) => String(number).padStart(2, "0");

function fieldTime(at) {
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

// overrideErrors returns what is wrong with a draft, by the ID of the field that it is said beside.
export function overrideErrors({ zone, limits }, card) {
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

// overrideOf is the override that a draft asks for; an empty object where the user has nothing of their own. What hasn't been typed stays to the letter.
export function overrideOf({ exempt, until, zone, limits }, card) {
  const own = {};
  if (exempt !== "by-role") own.exempt = exempt;
  if (exempt !== "by-role" && until) own.exempt_until = untilOf(until, card.override.exempt_until);
  if (zone.trim()) own.timezone = zone.trim();
  const numbers = ownLimits(card)
    .filter(({ name }) => limits[name]) // a limit may be new
    .map((limit) => [limit.name, numbersOf(roleFields(limit), card.override.limits?.[limit.name] ?? {}, limits[limit.name])])
    .filter(([, values]) => Object.keys(values).length > 0);
  if (numbers.length > 0) own.limits = Object.fromEntries(numbers);
  return own;
}

const untilOf = (text, former) => (former && text === fieldTime(new Date(former)) ? former : new Date(text).toISOString());
