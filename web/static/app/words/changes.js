// @ts-check
// Changes of a policy in words: "burst: messages at once 3 → 5".

import { commas, rich, t, table } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { algorithmOf, amount, periodNames } from "./algorithms.js";
import { asRenamed, renamesIn } from "./order.js";
import { messageKindName } from "./message-kinds.js";
import { rungName } from "./penalties.js";
import { roleName } from "./roles.js";
import { isText } from "./scopes.js";
import { length, seconds, weekdayName } from "./time.js";

/** @param {string} text */
const inTime = (text) => length(seconds(text));
/** @param {unknown} value */
const plain = (value) => (Array.isArray(value) ? commas(value) || t("rules.none") : String(value));
/** @param {unknown} value */
const yesNo = (value) => (value ? t("rules.yes") : t("rules.no"));

// writerOf returns a function that writes the values of a table.
/** @param {Readonly<Record<string, string>>} known */
const writerOf = (known) => (/** @type {string} */ value) => known[value] ?? value;

const modes = table({ observe: "rules.mode-observe", enforce: "rules.mode-enforce" });
const scopes = table({ user: "rules.scope-user", "user-everywhere": "rules.scope-user-everywhere", channel: "rules.scope-channel", everywhere: "rules.scope-everywhere", "user-text": "rules.per-user-text", text: "rules.per-text" });

// labels maps the last part of a key to its label.
/** @type {Record<string, string>} */
const labels = table({
  algorithm: "rules.change-algorithm", order: "rules.change-order", burst: "rules.change-burst", refill: "rules.change-refill", queue: "rules.change-queue",
  messages: "rules.change-messages", every: "rules.change-every", extra_burst: "rules.change-extra-burst", extra_refill: "rules.change-extra-refill",
  reserve: "rules.change-reserve", slices: "rules.change-slices", reset_at: "rules.change-reset-at", period: "rules.change-period", first_day: "rules.change-first-day", timezone: "rules.change-timezone", title: "rules.change-title", mode: "rules.change-mode",
  count_throttled: "rules.change-count-throttled", per: "rules.change-per", exempt: "rules.change-exempt", exempt_messages: "rules.change-exempt-messages", ladder: "rules.change-ladder",
  strike_every: "rules.change-strike-every", forget_after: "rules.change-forget-after",
  similar: "rules.change-similar", from_length: "rules.change-from-length", count_emotes: "rules.change-count-emotes", strikes: "rules.change-strikes",
});

// values maps it to the function that writes its values, and its default.
/** @type {Record<string, {write: (value: any) => string, none?: any}>} */
const values = {
  algorithm: { write: (algorithm) => algorithmName(algorithm) },
  order: { write: plain },
  burst: { write: amount },
  refill: { write: inTime },
  queue: { write: amount, none: 0 },
  messages: { write: amount },
  every: { write: inTime },
  extra_burst: { write: amount },
  extra_refill: { write: inTime },
  reserve: { write: amount, none: 0 },
  slices: { write: amount, none: 1 },
  reset_at: { write: plain, none: "00:00" },
  period: { write: writerOf(periodNames), none: "day" },
  first_day: { write: weekdayName, none: "monday" },
  timezone: { write: (zone) => zone || t("rules.same-zone"), none: "" },
  title: { write: (title) => title || t("rules.none"), none: "" },
  mode: { write: writerOf(modes), none: "enforce" },
  count_throttled: { write: yesNo, none: false },
  per: { write: writerOf(scopes), none: "user" },
  similar: { write: yesNo, none: false },
  from_length: { write: amount, none: 12 },
  count_emotes: { write: yesNo, none: false },
  strikes: { write: yesNo, none: false },
  exempt: { write: (roles) => plain(roles.map(roleName)), none: [] },
  exempt_messages: { write: (kinds) => plain(kinds.map(messageKindName)), none: [] },
  ladder: { write: (ladder) => plain(ladder.map(rungName)), none: [] },
  strike_every: { write: inTime },
  forget_after: { write: inTime },
};

// ChangeList describes changes, one per line. An added, removed or renamed limit takes a single
// line.
/** @param {{changes: Api.Change[]}} props */
export function ChangeList({ changes }) {
  return html`<ul class="changes">${phrases(changes).map(({ subject, text }) => html`<li>${subject ? rich("rules.change-line", { subject: html`<bdi>${subject}</bdi>`, text }) : text}</li>`)}</ul>`;
}

/** @param {Api.Change[]} all */
function phrases(all) {
  const renames = renamesIn(all), changes = asRenamed(all, renames);
  const whole = new Map(changes.filter(isWhole).map((change) => [limitOf(change.key), change]));
  const told = [...whole].map(([subject, { from, to }]) => {
    if (to === null) return { subject, text: t("rules.change-removed", { algorithm: algorithmName(/** @type {string} */ (from)) }) };
    return { subject, text: t("rules.change-added", { what: commas([algorithmName(/** @type {string} */ (to)), ...numbers(changes, subject)]) }) };
  });
  const renamed = renames.map(({ from, to }) => ({ subject: from, text: rich("rules.change-renamed", { name: html`<bdi>${to}</bdi>` }) }));
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
  const own = changes.map(({ key, to }) => [...key.split("."), to]).filter(([, name, field, ...rest]) => name === subject && rest.length === 1 && field !== "algorithm" && values[field]);
  return own.map(([, , field, to]) => {
    const label = labels[field], value = values[field].write(to);
    if (to === true) return label;
    return field === "per" && isText({ per: to }) ? value : t("rules.change-added-number", { label, value });
  });
}

/** @param {Api.Change} of */
function phrase({ key, from: before, to: after }) {
  const path = key.split("."), field = path.at(-1), subject = limitOf(key);
  const label = labels[field] ?? field.replaceAll("_", " ");
  const { write, none } = values[field] ?? { write: plain };
  const role = path[2] === "roles" && path[3] ? roleName(path[3]) : "";
  if (subject && path[3] && !path[4]) return { subject, text: t("rules.change-role-gone", { role }) };
  const unstated = role ? t("rules.same-numbers") : none === undefined ? t("rules.none") : write(none);
  /** @param {unknown} given */
  const value = (given) => (given === null ? unstated : write(given));
  const told = { label, from: value(before), to: value(after) };
  if (role) return { subject, text: t("rules.change-role", { ...told, role }) };
  return { subject, text: subject ? t("rules.change-limit", told) : t("rules.change", told) };
}
