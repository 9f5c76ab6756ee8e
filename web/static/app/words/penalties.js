// @ts-check
// Penalties and their outcomes in words.

import { seconds, wait } from "./time.js";

// todo describes each penalty as an instruction. The instruction for "timeout" must be followed by
// its duration.
/** @type {Record<string, string>} */
export const todo = {
  delete: "delete the message",
  warn: "delete and warn",
  timeout: "time out for",
  "timeout refill": "time out until they may write again",
  ban: "ban",
  drop: "block the message (chat servers only)",
  none: "do nothing",
};

// nouns are the names of actions; past are the names of their results.
/** @type {Record<string, string>} */
export const nouns = { none: "nothing", delete: "delete", warn: "warning", timeout: "timeout", ban: "ban", drop: "block" };
/** @type {Record<string, string>} */
export const past = { delete: "deleted", warn: "warned", timeout: "timed out", ban: "banned", drop: "blocked", none: "left alone" };

// penaltyWords describes a penalty of the API: "time out for 10 min".
/** @param {string} penalty */
export function penaltyWords(penalty) {
  const [action, length] = penalty.split(" ");
  return todo[penalty] ?? `${todo[action] ?? action} ${wait(seconds(length ?? "") * 1000)}`;
}

// lastingWords writes a timeout's duration: " for 10 min". It is empty for other penalties.
/** @param {string} penalty */
export function lastingWords(penalty) {
  const [, length] = penalty.split(" ");
  if (!length) return "";
  return length === "refill" ? " until they may write again" : ` for ${wait(seconds(length) * 1000)}`;
}

/** @type {Record<string, string>} */
const present = { none: "nothing to do", delete: "deleting…", warn: "warning…", timeout: "timing out…", ban: "banning…", drop: "blocking…" };

// severities are the classes of the chips that show what was done.
/** @type {Record<string, string>} */
export const severities = { delete: "deleted", warn: "warned", timeout: "timed-out", ban: "banned", drop: "blocked" };

// outcomeWords returns {word, kind, detail}. kind is the class of the chip that shows the word: the
// severity of what was done, or what became of it.
/** @param {{penalty: string, outcome: Api.Outcome}} of */
export function outcomeWords({ penalty, outcome }) {
  const [action] = penalty.split(" ");
  const forSoLong = lastingWords(penalty);
  const tried = outcome.action;
  switch (outcome.result) {
    case "observed":
      return { word: `would be ${past[action] ?? action}${forSoLong}`, kind: "observed", detail: "" };
    case "done":
      return { word: (past[tried] ?? tried) + (tried === action ? forSoLong : ""), kind: severities[tried] ?? "skipped", detail: outcome.reason };
    case "failed":
      return { word: `${nouns[tried] ?? tried} failed`, kind: "failed", detail: outcome.reason };
    case "skipped":
      return { word: `${nouns[tried] ?? tried} skipped`, kind: "skipped", detail: outcome.reason };
  }
  return { word: present[action] ?? action, kind: "pending", detail: "" };
}
