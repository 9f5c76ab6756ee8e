// @ts-check
// The chart of the channel's messages, and of those throttled, on a separate scale.

import { commas, sentences, t, table } from "../../text/text.js";
import { html, useEffect, useMemo } from "../../vendor/htm-preact.js";
import { update } from "../core/state.js";
import { followRates, inBuckets, inRows, total } from "./rates.js";
import { Chart, ChartToCome } from "../widgets/chart.js";
import { stamp, toMinute } from "../words/time.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { State } from "../core/state.js" */
/** @import { KnownRates, Span } from "./rates.js" */

// spans maps each span to the keys of its name, of a sentence without data and of the step of the
// table.
/** @type {Record<Span, {name: TextKey, none: TextKey, step: TextKey, seconds: number}>} */
const spans = {
  quarter: { name: "now.span-quarter", none: "now.no-quarter", step: "now.step-minute", seconds: 60 },
  hour: { name: "now.span-hour", none: "now.no-hour", step: "now.step-5-minutes", seconds: 300 },
  day: { name: "now.span-day", none: "now.no-day", step: "now.step-hour", seconds: 3600 },
  stream: { name: "now.span-stream", none: "now.no-stream", step: "now.step-10-minutes", seconds: 600 },
};

/** @type {Record<number, string>} */
const units = table({ 5: "now.per-5-s", 15: "now.per-15-s", 60: "now.per-minute", 300: "now.per-5-min", 600: "now.per-10-min" });

/** @param {{state: State}} props */
export function RatesChart({ state }) {
  const { rates, channel, channels } = state;
  const { live_since: live, streams_known: isKnown } = channels.find(({ id }) => id === channel) ?? {};
  const span = state.ratesSpan === "stream" && !live ? "hour" : state.ratesSpan;
  useEffect(() => followRates(span), [channel, span]);
  const known = rates?.channel === channel && rates.span === span ? rates.known : null;
  const offered = /** @type {Span[]} */ (Object.keys(spans)).filter((key) => key !== "stream" || isKnown || live);
  return html`
    <section class="rates" aria-label=${t("now.rates")}>
      <div class="spans tabs" role="group" aria-label=${t("now.span")}>
        ${offered.map((key) => html`
          <button type="button" aria-pressed=${key === span ? "true" : "false"} disabled=${key === "stream" && !live}
            title=${key === "stream" && !live ? t("now.not-live") : null} onClick=${() => update((s) => (s.ratesSpan = key))}>${t(spans[key].name)}</button>
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
  return html`<${Chart} label=${t("now.rates-label")} ...${drawn} />`;
}

/** @param {KnownRates} known @param {Span} span */
export function drawing(known, span) {
  const { seconds, starts, end, messages, throttled, observed, low } = inBuckets(known);
  const held = { name: t("now.throttled"), values: throttled, colour: "--series-throttled" };
  const would = { name: t("now.series-would"), values: observed, drawn: observed.map((count, i) => (count === null ? null : count + throttled[i])), colour: "--sev-observed" };
  const lower = total(observed) > 0 ? [would, held] : [held]; // the front one last
  const upper = [{ name: t("now.series-messages"), values: messages, colour: "--series-messages", fill: "--sunken" }];
  if (total(low) > 0) upper.push({ name: t("now.series-low"), values: low, colour: "--series-low", fill: "" });
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
    step: t(spans[span].step),
  };
}

// summary describes the chart for screen readers, and gives the totals that the curves don't show.
/** @param {KnownRates} of @param {Span} span */
export function summary({ from, step, messages, throttled, observed, low, peak }, span) {
  const first = messages.findIndex((count) => count !== null);
  if (first < 0) return t(spans[span].none);
  const since = toMinute(from + first * step * 1000);
  const all = total(messages), would = total(observed), passedLow = total(low);
  if (all === 0) return t("now.none-since", { time: since });
  const what = commas([
    t("now.messages", { n: all }),
    t("now.count-throttled", { n: total(throttled) ?? 0 }),
    would > 0 && t("now.count-would", { n: would }),
    passedLow > 0 && t("now.count-low", { n: passedLow }),
  ]);
  return sentences(t("now.since", { time: since, what }), peak && t("now.busiest-minute", { n: peak.messages, time: toMinute(peak.at) }));
}
