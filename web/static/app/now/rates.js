// @ts-check
// The channel's messages and throttled messages over a range of time.

import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";

/**
 * @typedef {"quarter" | "hour" | "day" | "stream"} Span
 * @typedef {(number | null)[]} Counts counts per step; null if unknown
 */

/**
 * KnownRates is chatguard's last answer. throttled excludes messages that were only observed. low
 * are messages that passed at low priority.
 * @typedef {{from: number, step: number, messages: Counts, throttled: Counts, observed: Counts,
 *   low: Counts, peak: {at: number, messages: number} | null}} KnownRates from in ms, step in seconds; peak is the
 *   busiest whole minute, its start in ms
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

/** @param {Api.getRates & {low?: Counts}} of */
function read({ from, step_seconds: step, messages, throttled, observed, low = messages.map((count) => count && 0), peak }) {
  return {
    from: Date.parse(from), step, messages, observed, low, throttled: throttled.map((count, i) => (count === null ? null : count - observed[i])),
    peak: peak ? { at: Date.parse(peak.at), messages: peak.messages } : null,
  };
}

/** @param {Rates} rates */
const set = (rates) => update((s) => (s.rates = rates));

// total adds up the known counts; it returns null if none is known.
/** @param {Counts} counts */
export function total(counts) {
  const known = counts.filter((count) => count !== null);
  return known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : null;
}

/**
 * Buckets are counts for longer steps, from the first known one on.
 * @typedef {{seconds: number, starts: number[], end: number, messages: Counts, throttled: Counts,
 *   observed: Counts, low: Counts}} Buckets times in seconds since 1970
 */

/** @type {[number, number][]} */
const bucketSizes = [[20 * 60, 15], [2 * 3600, 60], [8 * 3600, 300], [Infinity, 600]]; // [length of the data, bucket], s

// inBuckets groups the counts for a chart. The buckets fit the data there is, so that three minutes
// don't get the axis of an hour. An unfinished last bucket is left out.
/** @param {KnownRates} of @returns {Buckets} */
export function inBuckets({ from, step, messages, throttled, observed, low }) {
  const first = Math.max(0, messages.findIndex((count) => count !== null));
  const begin = from / 1000 + first * step, end = from / 1000 + messages.length * step;
  const seconds = Math.max(step, bucketSizes.find(([length]) => end - begin <= length)[1]);
  const starts = /** @type {number[]} */ ([]);
  for (let at = Math.floor(begin / seconds) * seconds; at < end; at += seconds) starts.push(at);
  if (starts.length > 1 && starts.at(-1) + seconds > end) starts.pop();
  /** @param {Counts} counts */
  const sums = (counts) => starts.map((at) => {
    const place = (/** @type {number} */ time) => Math.max(0, Math.round((time - from / 1000) / step));
    return total(counts.slice(place(at), place(at + seconds)));
  });
  return { seconds, starts, end: starts.at(-1) + seconds, messages: sums(messages), throttled: sums(throttled), observed: sums(observed), low: sums(low) };
}

// inRows groups columns of buckets into rows of a table, each for the given number of seconds. It
// returns [{at, values}], with at in seconds.
/** @param {number[]} starts @param {Counts[]} columns @param {number} seconds */
export function inRows(starts, columns, seconds) {
  /** @type {Map<number, number[]>} */
  const rows = new Map();
  starts.forEach((start, i) => {
    const at = Math.floor(start / seconds) * seconds;
    rows.set(at, [...(rows.get(at) ?? []), i]);
  });
  return [...rows].map(([at, places]) => ({ at, values: columns.map((counts) => total(places.map((i) => counts[i]))) }));
}
