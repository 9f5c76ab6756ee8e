// @ts-check
// The errors of a draft, by the ID of the field, in words for moderators. Values that were loaded
// have no errors.

import { t } from "../../text/text.js";
import { fieldsIn, isFixed, lengthFields } from "./draft.js";
import { leastTimes, mostTimes, parseTimes } from "./times.js";
import { algorithmOf, roleFields } from "../words/algorithms.js";
import { parseLength } from "../words/lengths.js";
import { textsOf, wrongNumber, wrongZone } from "../words/typed.js";
/** @import { Draft, DraftLimit } from "./draft.js" */
/** @import { Bounds } from "../words/algorithms.js" */
/** @import { Texts } from "../words/typed.js" */

/** @typedef {(id: string, error: string) => unknown} Note */

const longestTimeout = 1_209_600n * 1_000_000_000n; // two weeks, ns

/** @param {{policy: Api.Policy, draft: Draft}} of */
export function errorsOf({ policy, draft }) {
  /** @type {Record<string, string>} */
  const errors = {};
  /** @type {Note} */
  const note = (id, error) => error && (errors[id] = error);
  if (draft.timezone !== policy.timezone) note("zone", wrongZone(draft.timezone));
  draft.limits.forEach((limit, i) => limit.isRemoved || isFixed(limit.source) || checkLimit(limit, i, draft.limits, note));
  for (const [role, text] of Object.entries(draft.times)) note(`times-${role}`, wrongTimes(text));
  draft.rungs.forEach(({ action, length }, i) => action === "timeout" && note(`rung-${i}`, wrongTimeout(length)));
  checkTexts(lengthFields, policy.penalties, draft.lengths, (name) => name, note);
  return errors;
}

/** @param {DraftLimit} limit @param {number} i @param {DraftLimit[]} limits @param {Note} note */
function checkLimit(limit, i, limits, note) {
  const { source } = limit;
  if (limit.isNew || limit.name !== source.name) note(`name-${i}`, wrongName(limit, limits));
  if (limit.title !== (source.title ?? "")) note(`title-${i}`, wrongTitle(limit.title.trim()));
  checkTexts(fieldsIn(limit), source, limit.texts, (name) => `${name}-${i}`, note);
  for (const row of limit.roles) checkTexts(roleFields(source), row.source, row.texts, (name) => `${name}-${i}-${row.role}`, note);
  if (!algorithmOf(source).hasDay) return;
  note(`reset_at-${i}`, wrongTimeOfDay(limit.resetAt));
  if (limit.timezone !== (source.timezone ?? "")) note(`timezone-${i}`, wrongZone(limit.timezone));
}

/**
 * @param {Record<string, Bounds>} fields
 * @param {Record<string, any>} source
 * @param {Texts} texts
 * @param {(name: string) => string} id
 * @param {Note} note
 */
function checkTexts(fields, source, texts, id, note) {
  const known = textsOf(fields, source);
  for (const [name, field] of Object.entries(fields)) if (texts[name] !== known[name]) note(id(name), wrongNumber(field, texts[name]));
}

/** @param {string} text */
const wrongTimes = (text) => (text.trim() === "" || parseTimes(text) !== null ? "" : t("limits.times-wrong", { least: leastTimes, most: mostTimes }));

/** @param {string} length */
function wrongTimeout(length) {
  const ns = parseLength(length);
  if (ns === null) return t("limits.enter-timeout");
  if (ns < 1n || ns % 1_000_000_000n !== 0n) return t("limits.enter-seconds");
  return ns > longestTimeout ? t("limits.enter-14-days") : "";
}

/** @param {DraftLimit} of @param {DraftLimit[]} limits */
function wrongName({ id, name }, limits) {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name.trim())) return t("limits.enter-name");
  return limits.some((other) => other.id !== id && other.name === name.trim()) ? t("limits.name-taken") : "";
}

const mostTitle = 64; // characters

// An emoji may be joined from several.
const emoji = /\p{So}[\u{1f3fb}-\u{1f3ff}\ufe0f]?/u.source;
const titleLine = new RegExp(`^(?:[\\p{L}\\p{M}\\p{N}\\p{P}\\p{S} ]|${emoji}(?:\\u200d${emoji})+)*$`, "u");

/** @param {string} title */
function wrongTitle(title) {
  if ([...title].length > mostTitle) return t("limits.notice-long", { most: mostTitle });
  if (/^[/.]/.test(title)) return t("limits.notice-command", { start: title[0] });
  return titleLine.test(title) ? "" : t("limits.title-plain");
}

/** @param {string} text */
export function wrongTimeOfDay(text) {
  return text.trim() === "" || /^([01]\d|2[0-3]):[0-5]\d$/.test(text.trim()) ? "" : t("limits.enter-time");
}
