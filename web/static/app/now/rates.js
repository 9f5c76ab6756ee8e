// @ts-check
// The channel's message rates over the last hour or day.

import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";

/**
 * @typedef {"hour" | "day"} Span
 * @typedef {(number | null)[]} Counts counts per step; null if unknown
 */

/**
 * KnownRates is chatguard's last answer. throttled excludes messages that were only observed.
 * @typedef {{from: number, step: number, messages: Counts, throttled: Counts, observed: Counts}}
 *   KnownRates from in ms, step in seconds
 */

/**
 * @typedef {{channel: string | null, span: Span, known: KnownRates | null, problem: string}} Rates
 */

const every = 10_000; // between two requests while the page is visible, ms

// followRates keeps the rates of the channel shown up to date. It returns a function that stops the
// updates.
/** @param {Span} span */
export function followRates(span) {
  load(span);
  const timer = setInterval(() => document.hidden || load(span), every);
  return () => clearInterval(timer);
}

const asked = inOrder(); // to ignore outdated answers

/** @param {Span} span */
async function load(span) {
  const { channel } = state;
  const isNews = asked();
  if (state.rates?.channel !== channel || state.rates.span !== span) set({ channel, span, known: null, problem: "" });
  const news = await fetched(channel, span);
  if (news && isNews() && state.rates?.channel === channel && state.rates.span === span) set({ ...state.rates, ...news });
}

/** @param {string | null} channel @param {Span} span */
async function fetched(channel, span) {
  try {
    const { body } = await request("GET", `/rates?${new URLSearchParams({ channel, span })}`);
    return { known: read(body), problem: "" };
  } catch (problem) {
    if (ifSignedOut(problem)) return null;
    return problem.status === 0 ? null : { problem: problem.message }; // the header already reports a lost connection
  }
}

/** @param {Api.getRates} of */
function read({ from, step_seconds: step, messages, throttled, observed }) {
  return { from: Date.parse(from), step, messages, observed, throttled: throttled.map((count, i) => (count === null ? null : count - observed[i])) };
}

/** @param {Rates} rates */
const set = (rates) => update((s) => (s.rates = rates));

// total adds up the known counts; it returns null if none is known.
/** @param {Counts} counts */
export function total(counts) {
  const known = counts.filter((count) => count !== null);
  return known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : null;
}

// perSecond converts counts per step to counts per second.
/** @param {Counts} counts @param {number} step */
export const perSecond = (counts, step) => counts.map((count) => (count === null ? null : count / step));

// inRows groups columns of counts per step into rows, each for the given number of seconds. It
// returns [{at, values}], with at in seconds and values per second.
/** @param {KnownRates} of @param {Counts[]} columns @param {number} seconds */
export function inRows({ from, step }, columns, seconds) {
  const rows = new Map();
  columns[0].forEach((_, i) => {
    const at = Math.floor((from / 1000 + i * step) / seconds) * seconds;
    rows.set(at, [...(rows.get(at) ?? []), i]);
  });
  return [...rows].map(([at, steps]) => ({ at, values: columns.map((counts) => mean(steps.map((/** @type {number} */ i) => counts[i]), step)) }));
}

/** @param {Counts} counts @param {number} step */
const mean = (counts, step) => total(perSecond(counts, step)) === null ? null : total(counts) / counts.filter((count) => count !== null).length / step;
