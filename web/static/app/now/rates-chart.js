// @ts-check
// The chart of the channel's messages, and of those throttled, on a separate scale.

import { html, useEffect, useMemo } from "../../vendor/htm-preact.js";
import { update } from "../core/state.js";
import { followRates, inBuckets, inRows, total } from "./rates.js";
import { Chart, ChartToCome } from "../widgets/chart.js";
import { stamp, toMinute } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { KnownRates, Span } from "./rates.js" */

/** @type {Record<Span, {name: string, words: string, step: string, seconds: number}>} */
const spans = {
  quarter: { name: "15 min", words: "15 minutes", step: "minute", seconds: 60 },
  hour: { name: "Hour", words: "hour", step: "5 minutes", seconds: 300 },
  day: { name: "Day", words: "day", step: "hour", seconds: 3600 },
  stream: { name: "Stream", words: "stream", step: "10 minutes", seconds: 600 },
};

/** @type {Record<number, string>} */
const units = { 5: "per 5 s", 15: "per 15 s", 60: "per minute", 300: "per 5 min", 600: "per 10 min" };

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

/** @param {number} n */
const messageCount = (n) => `${whole.format(n)} ${n === 1 ? "message" : "messages"}`;

/** @param {{state: State}} props */
export function RatesChart({ state }) {
  const { rates, channel, channels } = state;
  const { live_since: live, streams_known: isKnown } = channels.find(({ id }) => id === channel) ?? {};
  const span = state.ratesSpan === "stream" && !live ? "hour" : state.ratesSpan;
  useEffect(() => followRates(span), [channel, span]);
  const known = rates?.channel === channel && rates.span === span ? rates.known : null;
  const offered = /** @type {Span[]} */ (Object.keys(spans)).filter((key) => key !== "stream" || isKnown || live);
  return html`
    <section class="rates" aria-label="Chat activity">
      <div class="spans tabs" role="group" aria-label="Time range">
        ${offered.map((key) => html`
          <button type="button" aria-pressed=${key === span ? "true" : "false"} disabled=${key === "stream" && !live}
            title=${key === "stream" && !live ? "The channel isn't live" : null} onClick=${() => update((s) => (s.ratesSpan = key))}>${spans[key].name}</button>
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
  return html`<${Chart} label="Messages and throttled messages" ...${drawn} />`;
}

/** @param {KnownRates} known @param {Span} span */
export function drawing(known, span) {
  const { seconds, starts, end, messages, throttled, observed, low } = inBuckets(known);
  const held = { name: "throttled", values: throttled, colour: "--series-throttled" };
  const would = { name: "would be throttled", values: observed, drawn: observed.map((count, i) => (count === null ? null : count + throttled[i])), colour: "--sev-observed" };
  const lower = total(observed) > 0 ? [would, held] : [held]; // the front one last
  const upper = [{ name: "messages", values: messages, colour: "--series-messages", fill: "--sunken" }];
  if (total(low) > 0) upper.push({ name: "of low priority", values: low, colour: "--series-low", fill: "" });
  const columns = [...upper, ...lower].map(({ values }) => values);
  return {
    summary: summary(known, span),
    unit: units[seconds],
    at: starts.map((start) => start + seconds / 2),
    range: [starts[0], end],
    moment: (/** @type {number} */ i) => (seconds < 60 ? stamp : toMinute)(starts[i] * 1000),
    series: upper,
    lower,
    rows: inRows(starts, columns, spans[span].seconds),
    step: spans[span].step,
  };
}

// summary describes the chart for screen readers, and gives the totals that the curves don't show.
/** @param {KnownRates} of @param {Span} span */
export function summary({ from, step, messages, throttled, observed, low, peak }, span) {
  const first = messages.findIndex((count) => count !== null);
  if (first < 0) return `No data for the last ${spans[span].words} yet.`;
  const since = toMinute(from + first * step * 1000);
  const all = total(messages), would = total(observed), passedLow = total(low);
  if (all === 0) return `No messages since ${since}.`;
  return `Since ${since}: ${messageCount(all)}, ${whole.format(total(throttled))} throttled` +
    (would > 0 ? `, ${whole.format(would)} would have been throttled` : "") +
    (passedLow > 0 ? `, ${whole.format(passedLow)} passed at low priority` : "") + "." +
    (peak ? ` Busiest minute: ${messageCount(peak.messages)} at ${toMinute(peak.at)}.` : "");
}
