// @ts-check
// How much of a limit was left in the last 7 days, as a chart.

import { sentences, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { state } from "../core/state.js";
import { Chart, ChartToCome } from "./chart.js";
import { clock, length, stamp } from "../words/time.js";

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
  const [all, byRole] = hasNodes ? [t("rules.week-node"), t("rules.week-node-role")] : [t("rules.week-computed"), t("rules.week-role")];
  return sentences(isByRole ? byRole : all, t("rules.week-faster"));
}

/** @param {{body: WeekBody, isShared: boolean, now?: Standing}} props */
function Drawn({ body, isShared, now }) {
  const { limit } = body;
  const { capacity } = now ?? body;
  const known = pointsOf(body, now);
  if (known.length === 0) return html`<p class="chart to-come muted">${t("rules.week-empty")}</p>`;
  const label = isShared ? t("rules.week-label-shared", { limit }) : t("rules.week-label", { limit });
  const series = [{ name: t("rules.week-left", { limit }), values: known.map(({ remaining }) => remaining), colour: "--accent", fill: "--accent-soft", isStepped: true }];
  return html`
    <${Chart} label=${label} summary=${summary(known, limit, capacity)} at=${known.map(({ at }) => at)} series=${series}
      unit=${t("rules.unit-messages")} top=${capacity} rows=${rows(known)} step=${t("rules.every-length", { length: length(rowStep) })} />
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
  if (least.remaining >= capacity) return t("rules.week-unused", { n: capacity, limit, time: clock(known[0].at * 1000) });
  if (least.remaining === left) return t("rules.week-fewest-now", { n: left, limit, capacity });
  return t("rules.week-fewest", { n: left, limit, capacity, least: least.remaining, time: stamp(least.at * 1000) });
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
