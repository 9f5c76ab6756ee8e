// What is wrong with a draft, in a moderator's words, by the ID of the field that it is said beside. What was loaded is right.

import { algorithmOf, amount, roleFields } from "./algorithms.js";
import { isFixed, lengthFields, textsOf } from "./draft.js";

const longestTimeout = 1_209_600; // two weeks, s

export function errorsOf({ policy, draft }) {
  const errors = {};
  const note = (id, error) => error && (errors[id] = error);
  if (draft.timezone !== policy.timezone) note("zone", wrongZone(draft.timezone));
  draft.limits.forEach((limit, i) => limit.isRemoved || isFixed(limit.source) || checkLimit(limit, i, draft.limits, note));
  draft.rungs.forEach(({ action, length }, i) => action === "timeout" && note(`rung-${i}`, wrongTimeout(length)));
  checkTexts(lengthFields, policy.penalties, draft.lengths, (name) => name, note);
  return errors;
}

function checkLimit(limit, i, limits, note) {
  const { source } = limit;
  if (limit.isNew) note(`name-${i}`, wrongName(limit, limits));
  checkTexts(algorithmOf(source).fields, source, limit.texts, (name) => `${name}-${i}`, note);
  for (const row of limit.roles) checkTexts(roleFields(source), row.source, row.texts, (name) => `${name}-${i}-${row.role}`, note);
  if (source.algorithm !== "daily-window") return;
  note(`reset_at-${i}`, wrongTimeOfDay(limit.resetAt));
  if (limit.timezone !== (source.timezone ?? "")) note(`timezone-${i}`, wrongZone(limit.timezone));
}

function checkTexts(fields, source, texts, id, note) {
  const known = textsOf(fields, source);
  for (const [name, field] of Object.entries(fields)) if (texts[name] !== known[name]) note(id(name), wrongNumber(field, texts[name]));
}

export function wrongNumber({ isLength, least, most, mayBeEmpty }, typed) {
  const text = typed.trim(), number = Number(text);
  if (text === "" && mayBeEmpty) return "";
  const isNumber = isLength ? /^\d*\.?\d+$/ : /^\d+$/;
  if (!isNumber.test(text) || number < least) {
    return `Write a ${isLength ? "number of seconds" : "whole number"}, ${least} or more${mayBeEmpty ? ", or nothing: then it is as for everyone" : ""}.`;
  }
  return number > most ? `${amount(most)} is the most.` : "";
}

function wrongTimeout(length) {
  const number = Number(length);
  if (!/^\d+$/.test(length.trim()) || number < 1) return "Write a whole number of seconds, 1 or more.";
  return number > longestTimeout ? `${amount(longestTimeout)} seconds, two weeks, is the most.` : "";
}

function wrongName({ id, name }, limits) {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name.trim())) return "Write a name of up to 64 letters, digits, - and _.";
  return limits.some((other) => other.id !== id && other.name === name.trim()) ? "Another limit has that name." : "";
}

function wrongTimeOfDay(text) {
  return text.trim() === "" || /^([01]\d|2[0-3]):[0-5]\d$/.test(text.trim()) ? "" : "Write a time of day as 00:00 to 23:59.";
}

export function wrongZone(name) {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name.trim() || "UTC" });
    return "";
  } catch {
    return "Write a zone such as Europe/Berlin.";
  }
}
