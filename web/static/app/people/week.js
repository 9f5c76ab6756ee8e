// @ts-check
// The messages that a user had left in one limit over the last week, as a chart.

import { html } from "../../vendor/htm-preact.js";
import { userAddress } from "../changes/user.js";
import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state } from "../core/state.js";
import { change, isShown } from "./people.js";
import { Chart, ChartToCome } from "../widgets/chart.js";
import { amount } from "../words/algorithms.js";
import { isShared } from "../words/scopes.js";
import { clock, stamp } from "../words/time.js";
/** @import { Card, Person } from "./people.js" */

/**
 * @typedef {object} Week
 * @property {string} limit the selected limit; empty if chatguard selects one
 * @property {Api.getChannelsUsersWeek | null} body chatguard's answer
 * @property {string} problem
 * @property {number} loadedAt when the answer came, ms
 */

/** @typedef {{at: number, remaining: number | null}} Point */

const longest = 60_000; // data older than this is loaded again, ms

// keepWeek loads the data of the user shown again if it is old.
export async function keepWeek() {
  const person = state.people?.person;
  if (person?.card && Date.now() - person.week.loadedAt > longest) await loadWeek();
}

/** @param {string} limit */
function chooseLimit(limit) {
  const { person } = state.people;
  change(person, { week: { ...person.week, limit } });
  return loadWeek();
}

const asked = inOrder(); // to ignore outdated answers

export async function loadWeek() {
  const person = state.people?.person;
  if (!person) return;
  const { limit } = person.week;
  const isNews = asked();
  const isWanted = () => isNews() && isShown(person) && state.people.person.week.limit === limit;
  try {
    const { body } = await request("GET", `${userAddress(person.id)}/week${limit ? "?" + new URLSearchParams({ limit }) : ""}`);
    if (isWanted()) change(person, { week: { limit, body, problem: "", loadedAt: Date.now() } });
  } catch (problem) {
    if (!ifSignedOut(problem) && isWanted()) change(person, { week: { ...state.people.person.week, problem: problem.message, loadedAt: Date.now() } });
  }
}

const rowStep = 6 * 3600; // between two rows of the table, seconds

/** @param {{person: Person}} props */
export function UserWeek({ person: { card, week } }) {
  const { body, problem } = week;
  const chosen = week.limit || body?.limit || "";
  const limits = card.limits.filter((limit) => !isShared(limit));
  if (limits.length === 0) return null;
  return html`
    <section class="part" aria-labelledby="week">
      <div class="part-head">
        <h3 id="week">Last 7 days</h3>
        <label><span class="unseen">Limit shown</span>
          <select value=${chosen} onChange=${(event) => chooseLimit(event.target.value)}>
            ${limits.map(({ name }) => html`<option value=${name} selected=${name === chosen}>${name}</option>`)}
          </select>
        </label>
      </div>
      ${body?.limit === chosen ? html`<${WeekChart} key=${body.limit} body=${body} card=${card} />` : html`<${ChartToCome} />`}
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
    </section>
  `;
}

/** @param {{body: Api.getChannelsUsersWeek, card: Card}} props */
function WeekChart({ body, card }) {
  const { limit } = body;
  const { capacity = body.capacity } = card.limits.find(({ name }) => name === limit) ?? {};
  const known = pointsOf(body, card);
  if (known.length === 0) return html`<p class="chart to-come muted">No data for the last 7 days.</p>`;
  const series = [{ name: `left in ${limit}`, values: known.map(({ remaining }) => remaining), colour: "--accent", fill: "--accent-soft", isStepped: true }];
  return html`
    <${Chart} label=${`Messages left in ${limit}`} summary=${summary(known, limit, capacity)} at=${known.map(({ at }) => at)} series=${series}
      unit="messages" top=${capacity} rows=${rows(known)} step="6 hours" />
  `;
}

// pointsOf returns the points of the chart. The last one is the card's, so that chart, table and
// headline are of one moment. A single point is drawn at the end of an hour.
/** @param {Api.getChannelsUsersWeek} body @param {Card} card @returns {Point[]} */
export function pointsOf({ limit, until, points }, { limits, verdict }) {
  const seconds = (/** @type {string} */ at) => Math.floor(Date.parse(at) / 1000);
  const past = points.filter(({ at }) => at < until).map(({ at, remaining }) => ({ at: seconds(at), remaining }));
  const left = limits.find(({ name }) => name === limit)?.remaining;
  const known = left === undefined ? past : [...past, { at: seconds(verdict.at), remaining: left }];
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
function rows(known) {
  const rows = [];
  let i = 0;
  for (let at = Math.ceil(known[0].at / rowStep) * rowStep; at <= known.at(-1).at; at += rowStep) {
    while (known[i + 1]?.at <= at) i++;
    rows.push({ at, values: [known[i].remaining] });
  }
  return rows;
}
