// @ts-check
// The draft of a policy: the texts that a moderator types, and their conversion to a policy.

import { algorithmOf, fieldsOf, roleFields, switchesOf } from "../words/algorithms.js";
import { durationText, lengthText, nanoseconds, parseLength } from "../words/lengths.js";
import { isAcrossChannels } from "../words/scopes.js";
import { numbersOf, textsOf } from "../words/typed.js";
/** @import { Texts } from "../words/typed.js" */

/**
 * @typedef {object} Draft
 * @property {Api.Policy["mode"]} mode
 * @property {string} timezone
 * @property {string[]} exempt
 * @property {string[]} exemptMessages
 * @property {DraftLimit[]} limits
 * @property {Record<string, string>} times the multiples of everyone's numbers that roles keep, as
 *   they are typed; empty while a role keeps none
 * @property {Rung[]} rungs
 * @property {Texts} lengths the durations of penalties
 */

/**
 * @typedef {object} DraftLimit
 * @property {string} id the limit's place in the policy that was loaded, or an ID of its own
 * @property {Api.Limit} source the limit as it was loaded, or the initial values of a new limit or
 *   of another algorithm
 * @property {string} name
 * @property {string} title what viewers read instead of the name
 * @property {Texts} texts
 * @property {DraftRole[]} roles
 * @property {boolean} observes
 * @property {boolean} countsThrottled
 * @property {string} timezone
 * @property {string} resetAt
 * @property {string} period empty for a day
 * @property {string} firstDay of a week; empty for Monday
 * @property {string} per
 * @property {Record<string, boolean>} ticks what a limit on repeated text has or hasn't
 * @property {boolean} isNew
 * @property {boolean} isRemoved
 */

/**
 * @typedef {{role: string, source: Api.Override, texts: Texts}} DraftRole
 * @typedef {{action: string, length: string}} Rung length is a timeout's duration, or empty
 */

const longest = 99_420; // days; about 2 ** 33 s

const length = { isLength: true, least: 0, most: longest * 86_400 };

// lengthFields are the durations of penalties.
export const lengthFields = { strike_every: length, forget_after: length };

/** @param {Api.Policy} of @returns {Draft} */
export function draftOf({ mode, timezone, exempt, exempt_messages: exemptMessages, limits, penalties }) {
  return {
    mode,
    timezone,
    exempt: exempt ?? [],
    exemptMessages: exemptMessages ?? [],
    limits: limits.map((limit, i) => draftLimit(limit, String(i))),
    rungs: (penalties.ladder ?? []).map(rungOf),
    lengths: textsOf(lengthFields, penalties),
    times: {},
  };
}

/** @param {Api.Limit} source @param {string} id @returns {DraftLimit} */
export function draftLimit(source, id) {
  return {
    id,
    source,
    name: source.name,
    title: source.title ?? "",
    texts: textsOf(allFields(source), source),
    roles: Object.entries(source.roles ?? {}).map(([role, own]) => draftRole(source, role, own)),
    observes: source.mode === "observe",
    countsThrottled: source.count_throttled ?? false,
    timezone: source.timezone ?? "",
    resetAt: source.reset_at ?? "",
    period: source.period ?? "",
    firstDay: source.first_day ?? "",
    per: source.per ?? "user",
    ticks: ticksOf(source),
    isNew: false,
    isRemoved: false,
  };
}

/** @param {Api.Limit} source @returns {Record<string, boolean>} */
function ticksOf(source) {
  /** @type {Record<string, any>} */
  const values = source;
  return Object.fromEntries(switchesIn({ source, per: "text" }).map((name) => [name, Boolean(values[name])]));
}

// fieldsIn returns the numbers of a limit that is being edited.
/** @param {Pick<DraftLimit, "source" | "per">} limit */
export const fieldsIn = ({ source: { algorithm }, per }) => fieldsOf({ algorithm, per });

// switchesIn returns the names of its switches, such as "similar".
/** @param {Pick<DraftLimit, "source" | "per">} limit */
export const switchesIn = ({ source: { algorithm }, per }) => switchesOf({ algorithm, per });

// allFields returns the numbers of a limit with those that it has if it is on repeated text.
/** @param {Api.Limit} source */
const allFields = (source) => fieldsIn({ source, per: "text" });

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
export const newLimit = (algorithm, others) => addedLimit(/** @type {Api.Limit} */ ({ name: algorithm, algorithm, ...algorithmOf({ algorithm }).start }), others);

// addedLimit returns the draft of a new limit, with a number in its name if another limit has that,
// or had it when it was added.
/** @param {Api.Limit} limit @param {DraftLimit[]} others @returns {DraftLimit} */
export function addedLimit(limit, others) {
  const taken = new Set(others.flatMap(({ id, name }) => [id, `new ${name}`]));
  let { name } = limit;
  for (let n = 2; taken.has(`new ${name}`); n++) name = `${limit.name}-${n}`;
  return { ...draftLimit({ ...limit, name }, `new ${name}`), isNew: true };
}

// loadedOf returns the limit as it was loaded, or nothing for a new limit.
/** @param {Api.Policy} policy @param {DraftLimit} limit @returns {Api.Limit | undefined} */
export const loadedOf = (policy, { id, isNew }) => (isNew ? undefined : policy.limits[Number(id)]);

// draftTowards returns the draft that changes one policy into another. Limits of the same name are
// the same limit.
/** @param {Api.Policy} policy @param {Api.Policy} wanted @returns {Draft} */
export function draftTowards(policy, wanted) {
  const limits = wanted.limits.map((limit) => {
    const place = policy.limits.findIndex(({ name }) => name === limit.name);
    return towards(policy.limits[place], limit, place < 0 ? `new ${limit.name}` : String(place));
  });
  const gone = draftOf(policy).limits.filter(({ name }) => !wanted.limits.some((limit) => limit.name === name));
  return { ...draftOf(wanted), limits: [...limits, ...gone.map((limit) => ({ ...limit, isRemoved: true }))] };
}

// towards returns the draft that changes a limit that was loaded, if any, into another one.
/** @param {Api.Limit | undefined} loaded @param {Api.Limit} wanted @param {string} id */
export function towards(loaded, wanted, id) {
  const draft = draftLimit(wanted, id);
  if (loaded?.algorithm !== wanted.algorithm) return { ...draft, isNew: !loaded };
  return { ...draft, source: loaded, roles: draft.roles.map((row) => ({ ...row, source: loaded.roles?.[row.role] ?? {} })) };
}

/** @param {string} text */
function rungOf(text) {
  const [action, length] = text.split(" ");
  return length === undefined || length === "refill" ? { action: text, length: "" } : { action, length: lengthText(nanoseconds(length)) };
}

// usualTimeout returns the duration of a new timeout.
export const usualTimeout = () => lengthText(600_000_000_000n);

/** @param {Rung} of */
const rungText = ({ action, length }) => (action === "timeout" ? `timeout ${durationText(parseLength(length) ?? 0n)}` : action);

// policyOf returns the policy that a draft describes. Values that weren't edited stay exactly as
// they were loaded.
/** @param {{policy: Api.Policy, draft: Draft}} of */
export function policyOf({ policy, draft }) {
  const { mode, timezone, exempt, exemptMessages, rungs, lengths } = draft;
  const limits = draft.limits.filter((limit) => !limit.isRemoved).map(limitOf);
  const penalties = /** @type {Api.Policy["penalties"]} */ ({ ...numbersOf(lengthFields, policy.penalties, lengths), ladder: rungs.map(rungText) });
  return { ...policy, mode, timezone: timezone.trim(), exempt, exempt_messages: exemptMessages, limits, penalties };
}

// limitOf returns the limit that a draft describes.
/** @param {DraftLimit} draft @returns {Api.Limit} */
export function limitOf(draft) {
  const { source, name, title, texts, roles, observes, countsThrottled, timezone, resetAt, period, firstDay, per, ticks } = draft;
  const fields = fieldsIn(draft), switches = switchesIn(draft);
  /** @type {Record<string, any>} */
  const limit = { ...numbersOf(fields, source, texts), name: name.trim() };
  put(limit, "title", title.trim());
  put(limit, "mode", observes && "observe");
  put(limit, "count_throttled", countsThrottled);
  const { hasDay } = algorithmOf(source);
  put(limit, "timezone", hasDay && timezone.trim());
  put(limit, "reset_at", hasDay && resetAt.trim());
  put(limit, "period", hasDay && period);
  put(limit, "first_day", hasDay && period === "week" && firstDay);
  put(limit, "per", per !== "user" && per);
  for (const name of Object.keys(allFields(source))) if (!fields[name]) delete limit[name];
  for (const name of Object.keys(ticks)) put(limit, name, switches.includes(name) && ticks[name]);
  const own = roles.map((row) => [row.role, numbersOf(roleFields(source), row.source, row.texts)]);
  put(limit, "roles", own.length > 0 && Object.fromEntries(own));
  return /** @type {Api.Limit} */ (limit);
}

// put sets a key of a limit, or deletes it if the value is empty.
/** @param {Record<string, any>} limit @param {string} key @param {unknown} value */
function put(limit, key, value) {
  if (value) limit[key] = value;
  else delete limit[key];
}

// isFixed reports whether a limit can't be changed in a single channel, because it counts across
// all channels.
/** @param {Api.Limit} limit */
export const isFixed = (limit) => isAcrossChannels(limit);

// isDirty reports whether a draft differs from the policy, which has no multiples, but their
// numbers.
/** @param {{policy: Api.Policy, draft: Draft}} of */
export function isDirty({ policy, draft }) {
  const text = /** @param {Draft} of */ ({ times, ...rest }) => JSON.stringify(rest);
  return text(draft) !== text(draftOf(policy));
}
