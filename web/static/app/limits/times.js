// @ts-check
// A role's numbers as one multiple of everyone's in all limits. The policy has only the numbers. So
// the multiple is computed from them, and editing a limit or the multiple writes them again.

import { number } from "../../text/text.js";
import { draftRole, isFixed } from "./draft.js";
import { algorithmOf, roleFields } from "../words/algorithms.js";
import { lengthText, parseLength } from "../words/lengths.js";
import { isText } from "../words/scopes.js";
import { wrongNumber } from "../words/typed.js";
/** @import { Draft, DraftLimit } from "./draft.js" */
/** @import { Field } from "../words/algorithms.js" */

/** @typedef {bigint} Times a multiple in hundredths */

const one = 100n;

// leastTimes and mostTimes are the bounds of a multiple.
export const leastTimes = 0.1, mostTimes = 100;
const least = 10n, most = 10_000n; // the same in hundredths

const ms = 1_000_000n, second = 1_000_000_000n; // ns

const decimalPoint = number.formatToParts(1.5)[1].value;

// parseTimes reads a multiple, or returns null if the text is none.
/** @param {string} text @returns {Times | null} */
export function parseTimes(text) {
  const found = /^(\d{1,3})(?:[.,](\d{0,2}))?$/.exec(text.trim());
  if (!found) return null;
  const times = BigInt(found[1]) * one + BigInt((found[2] ?? "").padEnd(2, "0"));
  return times < least || times > most ? null : times;
}

/** @param {Times} times */
const timesText = (times) => String(Number(times) / 100).replace(".", decimalPoint);

// hasOnePace reports whether a limit's pace is the same for all roles, so that a role can't have a
// multiple of it.
/** @param {DraftLimit} limit */
export const hasOnePace = ({ source }) => Boolean(roleFields(source).queue);

/** @param {DraftLimit} limit */
export const isMultiplied = (limit) => !limit.isRemoved && !isFixed(limit.source) && !hasOnePace(limit) && !isText(limit);

// timesOf returns the multiple that a role has in all limits, or null if there is no such multiple.
/** @param {Draft} draft @param {string} role @returns {Times | null} */
function timesOf({ limits }, role) {
  const multiplied = limits.filter(isMultiplied);
  let low = least, high = most;
  for (const limit of multiplied) {
    for (const [base, own, field] of pairs(limit, role)) {
      const [from, to] = base < 0n || own < 0n ? [most, least] : timesBetween(base, own, field);
      low = from > low ? from : low;
      high = to < high ? to : high;
    }
  }
  const times = roundest(low, high);
  const isRight = times !== null && multiplied.every((limit) => pairs(limit, role).every(([base, own, field]) => multiple(base, times, field) === own));
  return isRight ? times : null;
}

// pairs returns everyone's number, and the role's, of each field of a limit. A wrong one is -1.
/** @param {DraftLimit} limit @param {string} role @returns {[base: bigint, own: bigint, field: Field][]} */
function pairs({ source, texts, roles }, role) {
  const own = roles.find((row) => row.role === role)?.texts ?? {};
  const { fields } = algorithmOf(source);
  return Object.keys(roleFields(source)).map((name) => {
    const field = fields[name], text = own[name]?.trim() || texts[name];
    return [read(texts[name], field), read(text, field), field];
  });
}

/** @param {string} text @param {Field} field */
const read = (text, field) => (wrongNumber(field, text) ? -1n : field.isLength ? parseLength(text) : BigInt(text.trim()));

// multiple returns a number times a multiple. A duration is divided by it. Rounding gives the role
// less.
/** @param {bigint} base @param {Times} times @param {Field} field */
function multiple(base, times, { isLength, least }) {
  if (!isLength) return longer(BigInt(least), (base * times) / one);
  const exact = up(base * one, times), unit = unitOf(exact);
  return up(exact, unit) * unit;
}

// timesBetween returns the least and the greatest multiple that make own of base.
/** @param {bigint} base @param {bigint} own @param {Field} field @returns {[Times, Times]} */
function timesBetween(base, own, field) {
  if (!field.isLength) return base === 0n ? [least, most] : [own <= BigInt(field.least) ? least : up(own * one, base), up((own + 1n) * one, base) - 1n];
  const before = own - unitOf(own);
  return own === 0n ? [most, least] : [up(base * one, own), before > 0n ? up(base * one, before) - 1n : most];
}

// roundest returns the multiple with the fewest digits in a range.
/** @param {Times} low @param {Times} high */
function roundest(low, high) {
  for (const step of [one, 50n, 10n, 1n]) {
    const times = up(low, step) * step;
    if (times <= high) return times;
  }
  return null;
}

// unitOf returns what a duration is rounded to.
/** @param {bigint} ns */
const unitOf = (ns) => (ns >= second ? ms : ns >= ms ? 1000n : 1n);
/** @param {bigint} a @param {bigint} b */
const up = (a, b) => (a + b - 1n) / b;
/** @param {bigint} a @param {bigint} b */
const longer = (a, b) => (a > b ? a : b);

// learnTimes notes the multiples of roles that have one.
/** @param {Draft} draft */
export function learnTimes(draft) {
  const roles = new Set(draft.limits.flatMap((limit) => limit.roles.map(({ role }) => role)));
  for (const role of roles) {
    const times = draft.times[role] === undefined ? timesOf(draft, role) : null;
    if (times !== null && times !== one) draft.times[role] = timesText(times);
  }
}

// followTimes writes the numbers of the roles with a multiple. Where everyone's number is wrong,
// the roles keep theirs.
/** @param {Draft} draft */
export function followTimes(draft) {
  for (const [role, text] of Object.entries(draft.times)) {
    const times = parseTimes(text);
    if (times !== null) draft.limits.filter(isMultiplied).forEach((limit) => write(limit, role, times));
  }
}

/** @param {DraftLimit} limit @param {string} role @param {Times} times */
function write(limit, role, times) {
  if (times === one) {
    limit.roles = limit.roles.filter((row) => row.role !== role);
    return;
  }
  const numbers = pairs(limit, role);
  if (numbers.some(([base]) => base < 0n)) return;
  let row = limit.roles.find((other) => other.role === role);
  if (!row) limit.roles.push((row = draftRole(limit.source, role)));
  Object.keys(roleFields(limit.source)).forEach((name, i) => {
    const [base, own, field] = numbers[i], wanted = multiple(base, times, field);
    if (own !== wanted || row.texts[name].trim() === "") row.texts[name] = field.isLength ? lengthText(wanted) : String(wanted);
  });
}

// shownTimes returns the multiple of a role as a text, which is empty if the role has none.
/** @param {Draft} draft @param {string} role */
export function shownTimes(draft, role) {
  if (draft.times[role] !== undefined) return draft.times[role];
  const times = timesOf(draft, role);
  return times === null ? "" : timesText(times);
}
