// @ts-check
// The chart of the channel's message rates, over the last hour or day.

import { html, useEffect, useMemo } from "../../vendor/htm-preact.js";
import { update } from "../core/state.js";
import { followRates, inRows, perSecond, total } from "./rates.js";
import { Chart, ChartToCome } from "../widgets/chart.js";
import { toMinute } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { KnownRates, Span } from "./rates.js" */

/** @type {Record<Span, {name: string, step: string, seconds: number}>} */
const spans = {
  hour: { name: "Last hour", step: "5 minutes", seconds: 300 },
  day: { name: "Last day", step: "hour", seconds: 3600 },
};

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

/** @param {{state: State}} props */
export function RatesChart({ state }) {
  const { rates, channel, ratesSpan: span } = state;
  useEffect(() => followRates(span), [channel, span]);
  const known = rates?.channel === channel && rates.span === span ? rates.known : null;
  return html`
    <section class="rates" aria-label="Chat activity">
      <div class="spans" role="group" aria-label="Time range">
        ${Object.entries(spans).map(([key, { name }]) => html`
          <button type="button" class="quiet" aria-pressed=${key === span ? "true" : "false"} onClick=${() => update((s) => (s.ratesSpan = /** @type {Span} */ (key)))}>${name}</button>
        `)}
      </div>
      ${known ? html`<${Rates} known=${known} span=${span} />` : html`<${ChartToCome} />`}
      <p class="error" role="alert">${rates?.problem}</p>
    </section>
  `;
}

/** @param {{known: KnownRates, span: Span}} props */
function Rates({ known, span }) {
  const drawn = useMemo(() => drawing(known, span), [known, span]); // once per answer, not per second
  return html`<${Chart} label="Messages per second" unit="per second" ...${drawn} />`;
}

/** @param {KnownRates} known @param {Span} span */
function drawing(known, span) {
  const { from, step, messages, throttled, observed } = known;
  const curves = [
    { name: "messages", counts: messages, colour: "--edge" },
    { name: "throttled", counts: throttled, colour: "--accent", fill: "--accent-soft" },
  ];
  if (total(observed) > 0) curves.push({ name: "would be throttled", counts: observed, colour: "--warn" });
  return {
    summary: summary(known, span),
    at: messages.map((_, i) => from / 1000 + i * step),
    series: curves.map(({ counts, ...look }) => ({ ...look, values: perSecond(counts, step) })),
    rows: inRows(known, curves.map(({ counts }) => counts), spans[span].seconds),
    step: spans[span].step,
  };
}

// summary describes the chart for screen readers, and gives the totals that the curves don't show.
/** @param {KnownRates} of @param {Span} span */
function summary({ from, step, messages, throttled, observed }, span) {
  const first = messages.findIndex((count) => count !== null);
  if (first < 0) return `No data for the last ${span} yet.`;
  const since = toMinute(from + first * step * 1000);
  const all = total(messages), would = total(observed);
  if (all === 0) return `No messages since ${since}.`;
  const most = Math.max(...messages);
  const busiest = toMinute(from + messages.indexOf(most) * step * 1000);
  return `Since ${since}: ${whole.format(all)} ${all === 1 ? "message" : "messages"}, ${whole.format(total(throttled))} throttled` +
    (would > 0 ? `, ${whole.format(would)} would have been throttled` : "") +
    `. Peak: ${tenths.format(most / step)} per second at ${busiest}.`;
}
