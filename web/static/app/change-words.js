// Changes of a policy in words: "burst: messages at once 3 → 5".

import { html } from "../vendor/htm-preact.js";
import { algorithmOf, amount } from "./algorithms.js";
import { length, seconds } from "./time.js";

const inTime = (text) => length(seconds(text));
const plain = (value) => (Array.isArray(value) ? value.join(", ").replaceAll("_", " ") || "none" : String(value));
const yesNo = (value) => (value ? "yes" : "no");

// words are what the last part of a key means, how its values are written, and what it is where it isn't stated.
const words = {
  burst: { label: "messages at once", write: amount },
  refill: { label: "one more every", write: inTime },
  queue: { label: "messages that may wait", write: amount, none: 0 },
  messages: { label: "messages", write: amount },
  every: { label: "every", write: inTime },
  reset_at: { label: "the day ends at", write: plain, none: "00:00" },
  timezone: { label: "zone", write: (zone) => zone || "as the channel’s", none: "" },
  mode: { label: "mode", write: plain, none: "enforce" },
  count_throttled: { label: "throttled messages count", write: yesNo, none: false },
  per: { label: "counts for", write: plain, none: "user" },
  exempt: { label: "without limits", write: plain, none: [] },
  ladder: { label: "penalties", write: plain, none: [] },
  strike_every: { label: "at most one strike every", write: inTime },
  forget_after: { label: "strikes are forgotten after", write: inTime },
};

// ChangeList says what changes do, a line for each. Limits that come or go are told as wholes.
export function ChangeList({ changes }) {
  return html`<ul class="changes">${phrases(changes).map(({ subject, text }) => html`<li>${subject && html`<bdi>${subject}</bdi>: `}${text}</li>`)}</ul>`;
}

function phrases(changes) {
  const whole = new Map(changes.filter(isWhole).map((change) => [limitOf(change.key), change]));
  const told = [...whole].map(([subject, { from, to }]) => {
    return { subject, text: to === null ? `removed, a ${algorithmName(from)}` : `new, ${[algorithmName(to), ...numbers(changes, subject)].join(", ")}` };
  });
  return [...told, ...changes.filter(({ key }) => !whole.has(limitOf(key))).map(phrase)];
}

const isWhole = ({ key, from, to }) => /^limit\.[^.]+\.algorithm$/.test(key) && (from === null || to === null);
const limitOf = (key) => (key.startsWith("limit.") ? key.split(".")[1] : "");
const algorithmName = (algorithm) => algorithmOf({ algorithm }).name;

// numbers says what a new limit has of its own; roles are left to its card.
function numbers(changes, subject) {
  const own = changes.map(({ key, to }) => [...key.split("."), to]).filter(([, name, field, ...rest]) => name === subject && rest.length === 1 && words[field]);
  return own.map(([, , field, to]) => `${words[field].label} ${words[field].write(to)}`);
}

function phrase({ key, from, to }) {
  const path = key.split(".");
  const { label, write, none } = words[path.at(-1)] ?? { label: path.at(-1).replaceAll("_", " "), write: plain };
  const role = path[2] === "roles" && path[3] ? `for ${path[3].replaceAll("_", " ")} ` : "";
  const unstated = role ? "as everyone" : none === undefined ? "none" : write(none);
  const value = (given) => (given === null ? unstated : write(given));
  const subject = limitOf(key);
  if (subject && path[3] && !path[4]) return { subject, text: `${role}numbers of its own, none yet` };
  return { subject, text: `${role}${label}${subject ? "" : ":"} ${value(from)} → ${value(to)}` };
}
