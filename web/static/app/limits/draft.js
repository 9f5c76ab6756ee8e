// @ts-check
// The draft of a policy: the texts that a moderator types, and their conversion to a policy.

import { algorithmOf, algorithms, roleFields } from "../words/algorithms.js";
import { seconds } from "../words/time.js";
import { numbersOf, textsOf } from "../words/typed.js";
/** @import { Role } from "../words/roles.js" */
/** @import { Texts } from "../words/typed.js" */

/**
 * @typedef {object} Draft
 * @property {Api.Policy["mode"]} mode
 * @property {string} timezone
 * @property {Role[]} exempt
 * @property {DraftLimit[]} limits
 * @property {Rung[]} rungs
 * @property {Texts} lengths the durations of penalties
 */

/**
 * @typedef {object} DraftLimit
 * @property {string} id
 * @property {Api.Limit} source the limit as it was loaded, or the initial values of a new limit
 * @property {string} name
 * @property {Texts} texts
 * @property {DraftRole[]} roles
 * @property {boolean} observes
 * @property {boolean} countsThrottled
 * @property {string} timezone
 * @property {string} resetAt
 * @property {string} per
 * @property {boolean} isNew
 * @property {boolean} isRemoved
 */

/**
 * @typedef {{role: string, source: Api.Override, texts: Texts}} DraftRole
 * @typedef {{action: string, length: string}} Rung length is a timeout's duration, in s, or empty
 */

// lengthFields are the durations of penalties.
export const lengthFields = {
  strike_every: { label: "At most one strike every", unit: "seconds", isLength: true, least: 0, most: 2 ** 33 },
  forget_after: { label: "Strikes expire after", unit: "seconds", isLength: true, least: 0, most: 2 ** 33 },
};

/** @param {Api.Policy} of @returns {Draft} */
export function draftOf({ mode, timezone, exempt, limits, penalties }) {
  return {
    mode,
    timezone,
    exempt: exempt ?? [],
    limits: limits.map((limit, i) => draftLimit(limit, String(i))),
    rungs: (penalties.ladder ?? []).map(rungOf),
    lengths: textsOf(lengthFields, penalties),
  };
}

/** @param {Api.Limit} source @param {string} id @returns {DraftLimit} */
function draftLimit(source, id) {
  return {
    id,
    source,
    name: source.name,
    texts: textsOf(algorithmOf(source).fields, source),
    roles: Object.entries(source.roles ?? {}).map(([role, own]) => draftRole(source, role, own)),
    observes: source.mode === "observe",
    countsThrottled: source.count_throttled ?? false,
    timezone: source.timezone ?? "",
    resetAt: source.reset_at ?? "",
    per: source.per ?? "user",
    isNew: false,
    isRemoved: false,
  };
}

// draftRole returns the draft of a role's custom numbers in a limit. Without a source, no number is
// custom yet.
/**
 * @param {Api.Limit} limit
 * @param {string} role
 * @param {Api.Override} [source]
 * @returns {DraftRole}
 */
export function draftRole(limit, role, source = {}) {
  return { role, source, texts: textsOf(roleFields(limit), source) };
}

// newLimit returns a limit with the algorithm's initial numbers and a name that no other limit has.
/** @param {string} algorithm @param {DraftLimit[]} others */
export function newLimit(algorithm, others) {
  const taken = new Set(others.map(({ name }) => name));
  let name = algorithm;
  for (let n = 2; taken.has(name); n++) name = `${algorithm}-${n}`;
  return { ...draftLimit({ name, algorithm, ...algorithms[algorithm].start }, `new ${name}`), isNew: true };
}

/** @param {string} text */
function rungOf(text) {
  const [action, length] = text.split(" ");
  return length === undefined || length === "refill" ? { action: text, length: "" } : { action, length: String(seconds(length)) };
}

/** @param {Rung} of */
const rungText = ({ action, length }) => (action === "timeout" ? `timeout ${length.trim()}s` : action);

// policyOf returns the policy that a draft describes. Values that weren't edited stay exactly as
// they were loaded.
/** @param {{policy: Api.Policy, draft: Draft}} of */
export function policyOf({ policy, draft }) {
  const { mode, timezone, exempt, rungs, lengths } = draft;
  const limits = /** @type {Api.Limit[]} */ (draft.limits.filter((limit) => !limit.isRemoved).map(limitOf));
  const penalties = /** @type {Api.Policy["penalties"]} */ ({ ...numbersOf(lengthFields, policy.penalties, lengths), ladder: rungs.map(rungText) });
  return { ...policy, mode, timezone: timezone.trim(), exempt, limits, penalties };
}

/** @param {DraftLimit} of */
function limitOf({ source, name, texts, roles, observes, countsThrottled, timezone, resetAt, per }) {
  /** @type {Record<string, any>} */
  const limit = { ...numbersOf(algorithmOf(source).fields, source, texts), name: name.trim() };
  put(limit, "mode", observes && "observe");
  put(limit, "count_throttled", countsThrottled);
  put(limit, "timezone", timezone.trim());
  put(limit, "reset_at", resetAt.trim());
  put(limit, "per", per !== "user" && per);
  const own = roles.map((row) => [row.role, numbersOf(roleFields(source), row.source, row.texts)]);
  put(limit, "roles", own.length > 0 && Object.fromEntries(own));
  return limit;
}

// put sets a key of a limit, or deletes it if the value is empty.
/** @param {Record<string, any>} limit @param {string} key @param {unknown} value */
function put(limit, key, value) {
  if (value) limit[key] = value;
  else delete limit[key];
}

// isFixed reports whether a limit counts across all channels. Such a limit can't be changed in a
// single channel.
/** @param {Api.Limit} limit */
export function isFixed(limit) {
  return limit.per === "user-everywhere";
}

/** @param {{policy: Api.Policy, draft: Draft}} of */
export function isDirty({ policy, draft }) {
  return JSON.stringify(draft) !== JSON.stringify(draftOf(policy));
}
