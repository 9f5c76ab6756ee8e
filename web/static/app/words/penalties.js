// @ts-check
// Penalties and their outcomes in words.

import { t, table } from "../../text/text.js";
import { reasonWords } from "./reasons.js";
import { seconds, wait } from "./time.js";

// todo describes each penalty as an instruction. The instruction for "timeout" must be followed by
// its duration.
/** @type {Record<string, string>} */
export const todo = table({
  delete: "words.todo-delete",
  warn: "words.todo-warn",
  timeout: "words.todo-timeout",
  "timeout refill": "words.todo-timeout-refill",
  ban: "words.todo-ban",
  drop: "words.todo-drop",
  none: "words.todo-none",
});

// nouns are the names of actions.
/** @type {Record<string, string>} */
export const nouns = table({
  none: "words.action-none", delete: "words.action-delete", warn: "words.action-warn", timeout: "words.action-timeout", ban: "words.action-ban", drop: "words.action-drop",
});
// past are the names of their results.
/** @type {Record<string, string>} */
export const past = table({
  delete: "words.done-delete", warn: "words.done-warn", timeout: "words.done-timeout", ban: "words.done-ban", drop: "words.done-drop", none: "words.done-none",
});

/** @type {Record<string, string>} */
const conditional = table({
  delete: "words.would-delete", warn: "words.would-warn", "timeout refill": "words.would-timeout-refill", ban: "words.would-ban", drop: "words.would-drop", none: "words.would-none",
});

/** @type {Record<string, string>} */
const present = table({
  none: "words.doing-none", delete: "words.doing-delete", warn: "words.doing-warn", timeout: "words.doing-timeout", ban: "words.doing-ban", drop: "words.doing-drop",
});

// rungs are the names of penalties in a list of changes.
/** @type {Record<string, string>} */
const rungs = table({
  none: "rules.rung-none", delete: "rules.rung-delete", warn: "rules.rung-warn", "timeout refill": "rules.rung-timeout-refill", ban: "rules.rung-ban", drop: "rules.rung-drop",
});

// lengthOf returns a timeout's duration in words. It is empty for other penalties, and for a
// timeout until the user may write again.
/** @param {string} penalty */
function lengthOf(penalty) {
  const [, length] = penalty.split(" ");
  return length && length !== "refill" ? wait(seconds(length) * 1000) : "";
}

// penaltyWords describes a penalty of the API: "time out for 10 min".
/** @param {string} penalty */
export function penaltyWords(penalty) {
  const length = lengthOf(penalty);
  return length ? t("words.todo-timeout-length", { length }) : (todo[penalty] ?? penalty);
}

// rungName names a penalty of the API: "timeout 10m0s".
/** @param {string} penalty */
export function rungName(penalty) {
  const [, length] = penalty.split(" ");
  return rungs[penalty] ?? (length ? t("rules.rung-timeout", { length }) : penalty);
}

// severities are the classes of chips that show what was done.
/** @type {Record<string, string>} */
export const severities = { delete: "deleted", warn: "warned", timeout: "timed-out", ban: "banned", drop: "blocked" };

// outcomeWords returns {word, kind, detail}. kind is the class of the chip that shows the word: the
// severity of what was done, or what became of it.
/** @param {{penalty: string, outcome: Api.Outcome}} of */
export function outcomeWords({ penalty, outcome }) {
  const [action] = penalty.split(" ");
  const length = lengthOf(penalty), tried = outcome.action;
  switch (outcome.result) {
    case "observed":
      return { word: length ? t("words.would-timeout-length", { length }) : (conditional[penalty] ?? action), kind: "observed", detail: "" };
    case "done":
      return { word: tried === action ? doneWords(penalty, length) : (past[tried] ?? tried), kind: severities[tried] ?? "skipped", detail: reasonWords(outcome.reason) };
    case "failed":
      return { word: t("words.action-failed", { action: nouns[tried] ?? tried }), kind: "failed", detail: reasonWords(outcome.reason) };
    case "unknown":
      return { word: t("words.action-unknown", { action: nouns[tried] ?? tried }), kind: "failed", detail: reasonWords(outcome.reason) };
    case "skipped":
      return { word: t("words.action-skipped", { action: nouns[tried] ?? tried }), kind: "skipped", detail: reasonWords(outcome.reason) };
  }
  return { word: present[action] ?? action, kind: "pending", detail: "" };
}

/** @param {string} penalty @param {string} length */
function doneWords(penalty, length) {
  if (length) return t("words.done-timeout-length", { length });
  return penalty === "timeout refill" ? t("words.done-timeout-refill") : (past[penalty] ?? penalty);
}
