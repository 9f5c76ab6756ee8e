// @ts-check
// Numbers that come from the Lab in the address: "#/limits?try=burst:burst=2,refill=6s". They fill
// the draft. What can't be filled in is named.

import { commas, sentences, t } from "../../text/text.js";
import { linkTo } from "../core/route.js";
import { mayModerate, state, update } from "../core/state.js";
import { withAlgorithm } from "./algorithm.js";
import { wrongTimeOfDay } from "./draft-errors.js";
import { draftLimit, fieldsIn, isFixed, loadedOf, switchesIn } from "./draft.js";
import { edit } from "./form.js";
import { algorithmNames, algorithmOf, scopesOf } from "../words/algorithms.js";
import { lengthText, nanoseconds, parseLength } from "../words/lengths.js";
import { readLimit } from "../words/limit-text.js";
import { wrongNumber, wrongZone } from "../words/typed.js";
/** @import { Draft, DraftLimit } from "./draft.js" */
/** @import { Field } from "../words/algorithms.js" */
/** @import { LimitParts } from "../words/limit-text.js" */

/**
 * Tried is what became of the numbers: the names of the limits that were filled or added, and what
 * is wrong with the rest.
 * @typedef {{filled: string[], added: string[], wrong: string[]}} Tried
 */

const mostLimits = 8;
const clipped = 40; // characters of a part that is shown

// fillTried fills the draft with the numbers in the address, once: it removes them from the
// address.
export function fillTried() {
  const { try: text, ...query } = state.query;
  if (text === undefined || !state.form?.policy || state.form.busy) return;
  history.replaceState(null, "", linkTo(state, "limits", query));
  const { draft, tried } = mayModerate() ? withTried(state.form, text) : { draft: state.form.draft, tried: { filled: [], added: [], wrong: [t("limits.tried-access")] } };
  edit((present) => Object.assign(present, draft));
  update((s) => {
    s.query = query;
    s.form = { ...s.form, tried };
  });
}

export const dismissTried = () => update((s) => (s.form = { ...s.form, tried: null }));

// withTried returns the draft with the numbers of a text, and what became of them.
/** @param {{policy: Api.Policy, draft: Draft}} form @param {string} text @returns {{draft: Draft, tried: Tried}} */
export function withTried({ policy, draft }, text) {
  const wanted = structuredClone(draft);
  /** @type {Tried} */
  const tried = { filled: [], added: [], wrong: [] };
  const texts = text.split(";").filter((each) => each.trim() !== "");
  if (texts.length > mostLimits) tried.wrong.push(t("limits.tried-many", { most: mostLimits, count: texts.length }));
  for (const each of texts.slice(0, mostLimits)) {
    const parts = readLimit(each);
    const problem = parts.name === "" ? t("limits.tried-nameless", { text: clip(each) }) : fillLimit(wanted, policy, parts, tried);
    if (problem) tried.wrong.push(problem);
  }
  if (texts.length === 0) tried.wrong.push(t("limits.tried-nothing"));
  return { draft: wanted, tried };
}

// fillLimit fills one limit, or adds it. It returns why it did neither.
/** @param {Draft} draft @param {Api.Policy} policy @param {LimitParts} parts @param {Tried} tried */
function fillLimit(draft, policy, parts, tried) {
  const { name, algorithm } = parts;
  const place = draft.limits.findIndex((limit) => limit.name === name);
  const present = draft.limits[place];
  if (present && isFixed(present.source)) return t("limits.tried-fixed", { limit: clip(name) });
  if (algorithm && !algorithmNames().includes(algorithm)) return t("limits.tried-algorithm", { limit: clip(name), algorithm: clip(algorithm) });
  if (!present && !/^[A-Za-z0-9_-]{1,64}$/.test(name)) return t("limits.tried-name", { limit: clip(name) });
  const before = JSON.stringify(present);
  const kind = algorithm || present?.source.algorithm || algorithmFor(parts);
  if (!kind) return t("limits.tried-unknown", { limit: clip(name) });
  const limit = present ? inAlgorithm(present, policy, kind) : { ...draftLimit(started(name, kind), `new ${name}`), isNew: true };
  const wrong = [...parts.unread.map((part) => t("limits.tried-part", { part: clip(part) })), ...parts.values.map(([key, value]) => write(limit, key, value, draft.timezone))].filter(Boolean);
  if (present || wrong.length === 0) draft.limits.splice(present ? place : draft.limits.length, 1, { ...limit, isRemoved: false });
  if (!present && wrong.length === 0) tried.added.push(name);
  if (present && (wrong.length === 0 || JSON.stringify(draft.limits[place]) !== before)) tried.filled.push(name);
  return wrong.length > 0 ? t(present ? "limits.tried-wrong" : "limits.tried-not-added", { limit: clip(name), problems: sentences(...wrong) }) : "";
}

/** @param {DraftLimit} limit @param {Api.Policy} policy @param {string} algorithm */
function inAlgorithm(limit, policy, algorithm) {
  return limit.source.algorithm === algorithm ? limit : withAlgorithm(limit, loadedOf(policy, limit), algorithm);
}

/** @param {string} name @param {string} algorithm @returns {Api.Limit} */
const started = (name, algorithm) => ({ name, algorithm: /** @type {Api.Limit["algorithm"]} */ (algorithm), ...algorithmOf({ algorithm }).start });

// algorithmFor returns the algorithm whose new limits have exactly these numbers, if there is only
// one such algorithm.
/** @param {LimitParts} of */
function algorithmFor({ values }) {
  const given = values.map(([key]) => key).sort().join();
  const fitting = algorithmNames().filter((algorithm) => Object.keys(algorithmOf({ algorithm }).start).sort().join() === given);
  return fitting.length === 1 ? fitting[0] : undefined;
}

// write types a value into the draft of a limit, or returns what is wrong with it.
/** @param {DraftLimit} limit @param {string} key @param {string} value @param {string} zone */
function write(limit, key, value, zone) {
  const { choices, hasDay, name } = algorithmOf(limit.source), fields = fieldsIn(limit);
  /** @param {string} error */
  const refused = (error) => error && t("limits.tried-value", { key, value: clip(value), problem: error });
  if (Object.hasOwn(fields, key)) {
    const text = typed(fields[key], value);
    const error = wrongNumber(fields[key], text);
    if (!error) limit.texts[key] = text;
    return refused(error);
  }
  if (key === "per") return refused(wrongChoice(scopesOf(limit.source), value)) || void (limit.per = value);
  if (switchesIn(limit).includes(key) && (value === "true" || value === "false")) limit.ticks[key] = value === "true";
  else if (key === "count_throttled" && (value === "true" || value === "false")) limit.countsThrottled = value === "true";
  else if (hasDay && key === "timezone") return refused(wrongZone(value)) || void (limit.timezone = value === zone ? limit.timezone : value);
  else if (hasDay && key === "reset_at") return refused(wrongTimeOfDay(value)) || void (limit.resetAt = value);
  else if (Object.hasOwn(choices, key)) return refused(wrongChoice(choices[key], value)) || void (limit[key === "period" ? "period" : "firstDay"] = value);
  else return t("limits.tried-key", { key: clip(key), algorithm: name });
  return "";
}

/** @param {string[]} choices @param {string} value */
const wrongChoice = (choices, value) => (choices.includes(value) ? "" : t("limits.enter-choice", { names: commas(choices) }));

/** @param {Field} field @param {string} value */
function typed({ isLength }, value) {
  const ns = parseLength(value) ?? (/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(value) ? nanoseconds(value) : null);
  return isLength && ns !== null ? lengthText(ns) : value;
}

/** @param {string} text */
const clip = (text) => (text.length > clipped ? text.slice(0, clipped) + "…" : text);
