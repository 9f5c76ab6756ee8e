// The draft of a policy: what a moderator types, as texts, and the way back to a policy.
//
// A draft is {mode, timezone, exempt, limits, rungs, lengths}. Each of limits is {id, source, name, texts, roles, observes, countsThrottled, timezone,
// resetAt, per, isNew, isRemoved}: source is the limit as it was loaded, or as a new one begins, and texts its numbers by field. Each of roles is
// {role, source, texts} again, and each of rungs {action, length}: the length of a timeout in seconds, or empty. lengths are those of penalties.

import { algorithmOf, algorithms, roleFields } from "./algorithms.js";
import { seconds } from "./time.js";

// lengthFields are the lengths of time that penalties have.
export const lengthFields = {
  strike_every: { label: "At most one strike every", unit: "seconds", isLength: true, least: 0, most: 2 ** 33 },
  forget_after: { label: "Strikes are forgotten after", unit: "seconds", isLength: true, least: 0, most: 2 ** 33 },
};

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

// draftRole is a role with numbers of its own in a limit; at first it may have none.
export function draftRole(limit, role, source = {}) {
  return { role, source, texts: textsOf(roleFields(limit), source) };
}

// newLimit is a limit of an algorithm with numbers to begin with and a name that none of the others has.
export function newLimit(algorithm, others) {
  const taken = new Set(others.map(({ name }) => name));
  let name = algorithm;
  for (let n = 2; taken.has(name); n++) name = `${algorithm}-${n}`;
  return { ...draftLimit({ name, algorithm, ...algorithms[algorithm].start }, `new ${name}`), isNew: true };
}

// textsOf writes the numbers of a limit, or of a role in it, as they are edited.
export function textsOf(fields, source) {
  const texts = {};
  for (const [name, { isLength, least, mayBeEmpty }] of Object.entries(fields)) {
    const value = source[name] ?? (least === 0 && !mayBeEmpty ? 0 : "");
    texts[name] = String(isLength && value ? seconds(value) : value);
  }
  return texts;
}

function rungOf(text) {
  const [action, length] = text.split(" ");
  return length === undefined || length === "refill" ? { action: text, length: "" } : { action, length: String(seconds(length)) };
}

const rungText = ({ action, length }) => (action === "timeout" ? `timeout ${length.trim()}s` : action);

// policyOf is the policy that a draft asks for. What hasn't been typed stays as it was loaded, to the letter.
export function policyOf({ policy, draft }) {
  const { mode, timezone, exempt, rungs, lengths } = draft;
  const limits = draft.limits.filter((limit) => !limit.isRemoved).map(limitOf);
  const penalties = { ...numbersOf(lengthFields, policy.penalties, lengths), ladder: rungs.map(rungText) };
  return { ...policy, mode, timezone: timezone.trim(), exempt, limits, penalties };
}

function limitOf({ source, name, texts, roles, observes, countsThrottled, timezone, resetAt, per }) {
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

// put states what a limit has, and leaves out what it hasn't.
function put(limit, key, value) {
  if (value) limit[key] = value;
  else delete limit[key];
}

export function numbersOf(fields, source, texts) {
  const known = textsOf(fields, source);
  const numbers = { ...source };
  for (const [name, { isLength }] of Object.entries(fields)) {
    const text = texts[name].trim();
    if (text === known[name]) continue;
    if (text === "") delete numbers[name];
    else numbers[name] = isLength ? text + "s" : Number(text);
  }
  return numbers;
}

// isFixed reports whether a limit can't be changed in a channel, because it counts in all of them.
export function isFixed(limit) {
  return limit.per === "user-everywhere";
}

export function isDirty({ policy, draft }) {
  return JSON.stringify(draft) !== JSON.stringify(draftOf(policy));
}
