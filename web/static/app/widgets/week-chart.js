// @ts-check
// How much of a limit was left over the last week, as a chart.

import { html } from "../../vendor/htm-preact.js";
import { state } from "../core/state.js";
import { Chart, ChartToCome } from "./chart.js";
import { amount } from "../words/algorithms.js";
import { clock, stamp } from "../words/time.js";

/** @typedef {Api.getChannelsWeek} WeekBody that of a user has the same form */

/**
 * Standing is the state of the limit that the page shows beside the chart.
 * @typedef {{at: string, remaining: number, capacity: number}} Standing
 */

/** @typedef {{at: number, remaining: number | null}} Point */

const rowStep = 6 * 3600; // between two rows of the table, seconds

// sharedWeekAddress returns the address of the week of a limit that everyone shares.
/** @param {string} channel @param {string} limit */
export const sharedWeekAddress = (channel, limit) => `/channels/${encodeURIComponent(channel)}/week?${new URLSearchParams({ limit })}`;

/**
 * @typedef {object} WeekProps
 * @property {WeekBody | null | undefined} body null until it is loaded
 * @property {boolean} isShared everyone shares the limit
 * @property {boolean} [isByRole] roles have other numbers in a shared limit
 * @property {Standing} [now] by default the body's last point
 * @property {string} problem
 */

/** @param {WeekProps} props */
export function WeekChart({ body, isShared, isByRole, now, problem }) {
  return html`
    ${body ? html`<${Drawn} key=${body.limit} body=${body} isShared=${isShared} now=${now} />` : html`<${ChartToCome} />`}
    <p class="basis muted">${basis(isShared && isByRole, Boolean(state.status?.shared))}</p>
    ${problem && html`<p class="error" role="alert">${problem}</p>`}
  `;
}

// basis says what the chart is computed from.
/** @param {boolean} isByRole @param {boolean} hasNodes */
export function basis(isByRole, hasNodes) {
  const sentences = [
    `Computed from the messages per quarter hour${hasNodes ? " on this node" : ""}, with the current numbers${isByRole ? " of users without roles" : ""}.`,
    "A limit that refills faster looks emptier than it was.",
  ];
  return sentences.join(" ");
}

/** @param {{body: WeekBody, isShared: boolean, now?: Standing}} props */
function Drawn({ body, isShared, now }) {
  const { limit } = body;
  const { capacity } = now ?? body;
  const known = pointsOf(body, now);
  if (known.length === 0) return html`<p class="chart to-come muted">No data for the last 7 days.</p>`;
  const label = `Messages left ${isShared ? "for everyone " : ""}in ${limit}`;
  const series = [{ name: `left in ${limit}`, values: known.map(({ remaining }) => remaining), colour: "--accent", fill: "--accent-soft", isStepped: true }];
  return html`
    <${Chart} label=${label} summary=${summary(known, limit, capacity)} at=${known.map(({ at }) => at)} series=${series}
      unit="messages" top=${capacity} rows=${rows(known)} step="every 6 hours" />
  `;
}

// pointsOf returns the points of the chart. The last one is the state that the page shows, so that
// both are of one moment. A single point is drawn at the end of an hour.
/** @param {WeekBody} body @param {Standing} [now] @returns {Point[]} */
export function pointsOf({ until, points }, now) {
  const shown = now ? [...points.filter(({ at }) => at < until), now] : points;
  const known = shown.map(({ at, remaining }) => ({ at: Math.floor(Date.parse(at) / 1000), remaining }));
  return known.length === 1 ? [{ at: known[0].at - 3600, remaining: null }, ...known] : known;
}

/** @param {Point[]} points @param {string} limit @param {number} capacity */
function summary(points, limit, capacity) {
  const known = points.filter(({ remaining }) => remaining !== null);
  const least = known.reduce((least, point) => (point.remaining < least.remaining ? point : least));
  const { remaining: left } = known.at(-1);
  if (least.remaining >= capacity) return `${limit}: all ${amount(capacity)} messages unused since ${clock(known[0].at * 1000)}.`;
  if (least.remaining === left) return `${limit}: ${amount(left)} of ${amount(capacity)} messages left now, the fewest this week.`;
  return `${limit}: ${amount(left)} of ${amount(capacity)} messages left now. Fewest this week: ${amount(least.remaining)} at ${stamp(least.at * 1000)}.`;
}

// rows returns the messages left at every sixth hour.
/** @param {Point[]} known */
export function rows(known) {
  const rows = [];
  let i = 0;
  for (let at = Math.ceil(known[0].at / rowStep) * rowStep; at <= known.at(-1).at; at += rowStep) {
    while (known[i + 1]?.at <= at) i++;
    rows.push({ at, values: [known[i].remaining] });
  }
  return rows;
}
