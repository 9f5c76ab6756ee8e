// How busy the channel was over the last hour or day.
//
// state.rates is {channel, span, known, problem}: span is "hour" or "day", known what chatguard told of them last, {from, step, messages, throttled,
// observed} with from in ms, step in seconds, and counts per step, null where they aren't known; null before the first answer. throttled doesn't count
// what was only observed.

import { request } from "./api.js";
import { inOrder } from "./in-order.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

const every = 10_000; // as often it is fetched again while somebody looks, ms

// followRates keeps the rates of the channel shown fresh until the function is called that it returns.
export function followRates(span) {
  load(span);
  const timer = setInterval(() => document.hidden || load(span), every);
  return () => clearInterval(timer);
}

const asked = inOrder(); // each time that it is fetched

async function load(span) {
  const { channel } = state;
  const isNews = asked();
  if (state.rates?.channel !== channel || state.rates.span !== span) set({ channel, span, known: null, problem: "" });
  const news = await fetched(channel, span);
  if (news && isNews() && state.rates?.channel === channel && state.rates.span === span) set({ ...state.rates, ...news });
}

async function fetched(channel, span) {
  try {
    const { body } = await request("GET", `/rates?${new URLSearchParams({ channel, span })}`);
    return { known: read(body), problem: "" };
  } catch (problem) {
    if (ifSignedOut(problem)) return null;
    return problem.status === 0 ? null : { problem: problem.message }; // that the connection is lost is said already
  }
}

function read({ from, step_seconds: step, messages, throttled, observed }) {
  return { from: Date.parse(from), step, messages, observed, throttled: throttled.map((count, i) => (count === null ? null : count - observed[i])) };
}

const set = (rates) => update((s) => (s.rates = rates));

// total adds up what is known of some counts; null where nothing is.
export function total(counts) {
  const known = counts.filter((count) => count !== null);
  return known.length > 0 ? known.reduce((sum, count) => sum + count, 0) : null;
}

// perSecond are counts per step as figures per second.
export const perSecond = (counts, step) => counts.map((count) => (count === null ? null : count / step));

// inRows gathers the columns, each of counts per step, in rows of so many seconds, with figures per second: [{at, values}], at in seconds.
export function inRows({ from, step }, columns, seconds) {
  const rows = new Map();
  columns[0].forEach((_, i) => {
    const at = Math.floor((from / 1000 + i * step) / seconds) * seconds;
    rows.set(at, [...(rows.get(at) ?? []), i]);
  });
  return [...rows].map(([at, steps]) => ({ at, values: columns.map((counts) => mean(steps.map((i) => counts[i]), step)) }));
}

const mean = (counts, step) => total(perSecond(counts, step)) === null ? null : total(counts) / counts.filter((count) => count !== null).length / step;
