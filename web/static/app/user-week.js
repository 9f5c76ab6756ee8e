// What a user had left in one limit over the last week, as a chart.

import { html } from "../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { Chart, ChartToCome } from "./chart.js";
import { clock, stamp } from "./time.js";
import { chooseLimit } from "./week.js";

const rowStep = 6 * 3600; // the table's rows are so far apart, seconds

export function UserWeek({ person: { card, week } }) {
  const { body, problem } = week;
  const chosen = week.limit || body?.limit || "";
  const limits = card.limits.filter(({ per }) => per !== "channel");
  if (limits.length === 0) return null;
  return html`
    <section class="part" aria-labelledby="week">
      <div class="part-head">
        <h3 id="week">The last week</h3>
        <label><span class="unseen">Limit of the chart</span>
          <select value=${chosen} onChange=${(event) => chooseLimit(event.target.value)}>
            ${limits.map(({ name }) => html`<option value=${name} selected=${name === chosen}>${name}</option>`)}
          </select>
        </label>
      </div>
      ${body?.limit === chosen ? html`<${WeekChart} key=${body.limit} body=${body} zone=${card.timezone} />` : html`<${ChartToCome} />`}
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
    </section>
  `;
}

function WeekChart({ body: { limit, capacity, points }, zone }) {
  if (points.length === 0) return html`<p class="chart to-come muted">Nothing is known of that week.</p>`;
  const known = points.map(({ at, remaining }) => ({ at: Math.floor(Date.parse(at) / 1000), remaining }));
  const series = [{ name: `left in ${limit}`, values: known.map(({ remaining }) => remaining), colour: "--accent", fill: "--accent-soft", isStepped: true }];
  return html`
    <${Chart} label=${`Messages left in ${limit}`} summary=${summary(known, limit, capacity, zone)} at=${known.map(({ at }) => at)} series=${series}
      unit="messages" top=${capacity} zone=${zone} rows=${rows(known)} step="6 hours" />
  `;
}

function summary(known, limit, capacity, zone) {
  const least = known.reduce((least, point) => (point.remaining < least.remaining ? point : least));
  const { remaining: left } = known.at(-1);
  if (least.remaining >= capacity) return `Since ${clock(known[0].at * 1000, zone)}, nothing of the ${amount(capacity)} messages in ${limit} was used.`;
  if (least.remaining === left) return `Of ${amount(capacity)} messages in ${limit}, ${amount(left)} are left now, the fewest of the week.`;
  return `Of ${amount(capacity)} messages in ${limit}, ${amount(left)} are left now; the fewest were left at ${stamp(least.at * 1000, zone)}: ${amount(least.remaining)}.`;
}

// rows has what was left at every sixth hour.
function rows(known) {
  const rows = [];
  let i = 0;
  for (let at = Math.ceil(known[0].at / rowStep) * rowStep; at <= known.at(-1).at; at += rowStep) {
    while (known[i + 1]?.at <= at) i++;
    rows.push({ at, values: [known[i].remaining] });
  }
  return rows;
}
