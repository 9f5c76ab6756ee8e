// @ts-check
// Changes of a policy in words: "burst: messages at once 3 → 5".

import { html } from "../../vendor/htm-preact.js";
import { algorithmOf, amount } from "./algorithms.js";
import { asRenamed, renamesIn } from "./order.js";
import { length, seconds } from "./time.js";

/** @param {string} text */
const inTime = (text) => length(seconds(text));
/** @param {unknown} value */
const plain = (value) => (Array.isArray(value) ? value.join(", ") || "none" : String(value));
/** @param {string[]} list */
const spaced = (list) => plain(list).replaceAll("_", " ");
/** @param {unknown} value */
const yesNo = (value) => (value ? "yes" : "no");

// words maps the last part of a key to its label, the function that writes its values, and its
// default.
/** @type {Record<string, {label: string, write: (value: any) => string, none?: any}>} */
const words = {
  algorithm: { label: "algorithm", write: (algorithm) => algorithmName(algorithm) },
  order: { label: "order of limits", write: plain },
  burst: { label: "messages at once", write: amount },
  refill: { label: "one more every", write: inTime },
  queue: { label: "queue size", write: amount, none: 0 },
  messages: { label: "messages", write: amount },
  every: { label: "every", write: inTime },
  extra_burst: { label: "more at low priority", write: amount },
  extra_refill: { label: "one more at low priority every", write: inTime },
  reserve: { label: "kept for normal priority", write: amount, none: 0 },
  slices: { label: "slices of the window", write: amount, none: 1 },
  reset_at: { label: "day ends at", write: plain, none: "00:00" },
  timezone: { label: "time zone", write: (zone) => zone || "same as the channel", none: "" },
  mode: { label: "mode", write: plain, none: "enforce" },
  count_throttled: { label: "count throttled messages", write: yesNo, none: false },
  per: { label: "scope", write: plain, none: "user" },
  exempt: { label: "exempt roles", write: spaced, none: [] },
  ladder: { label: "penalties", write: plain, none: [] },
  strike_every: { label: "at most one strike every", write: inTime },
  forget_after: { label: "strikes expire after", write: inTime },
};

// ChangeList describes changes, one per line. An added, removed or renamed limit takes a single
// line.
/** @param {{changes: Api.Change[]}} props */
export function ChangeList({ changes }) {
  return html`<ul class="changes">${phrases(changes).map(({ subject, text }) => html`<li>${subject && html`<bdi>${subject}</bdi>: `}${text}</li>`)}</ul>`;
}

/** @param {Api.Change[]} all */
function phrases(all) {
  const renames = renamesIn(all), changes = asRenamed(all, renames);
  const whole = new Map(changes.filter(isWhole).map((change) => [limitOf(change.key), change]));
  const told = [...whole].map(([subject, { from, to }]) => {
    return { subject, text: to === null ? `removed (${algorithmName(from)})` : `added (${[algorithmName(to), ...numbers(changes, subject)].join(", ")})` };
  });
  const renamed = renames.map(({ from, to }) => ({ subject: from, text: html`renamed to <bdi>${to}</bdi>` }));
  return [...renamed, ...told, ...changes.filter(({ key }) => !whole.has(limitOf(key))).map(phrase)];
}

/** @param {Api.Change} of */
const isWhole = ({ key, from, to }) => /^limit\.[^.]+\.algorithm$/.test(key) && (from === null || to === null);
/** @param {string} key */
const limitOf = (key) => (key.startsWith("limit.") ? key.split(".")[1] : "");
/** @param {string} algorithm */
const algorithmName = (algorithm) => algorithmOf({ algorithm }).name;

// numbers describes the numbers of a new limit, but not its custom numbers for roles.
/** @param {Api.Change[]} changes @param {string} subject */
function numbers(changes, subject) {
  const own = changes.map(({ key, to }) => [...key.split("."), to]).filter(([, name, field, ...rest]) => name === subject && rest.length === 1 && field !== "algorithm" && words[field]);
  return own.map(([, , field, to]) => `${words[field].label} ${words[field].write(to)}`);
}

/** @param {Api.Change} of */
function phrase({ key, from, to }) {
  const path = key.split(".");
  const { label, write, none } = words[path.at(-1)] ?? { label: path.at(-1).replaceAll("_", " "), write: plain };
  const role = path[2] === "roles" && path[3] ? ` for ${path[3].replaceAll("_", " ")}` : "";
  const unstated = role ? "same as everyone" : none === undefined ? "none" : write(none);
  /** @param {unknown} given */
  const value = (given) => (given === null ? unstated : write(given));
  const subject = limitOf(key);
  if (subject && path[3] && !path[4]) return { subject, text: `no custom numbers${role}` };
  return { subject, text: `${label}${role}${subject && !role ? "" : ":"} ${value(from)} → ${value(to)}` };
}
