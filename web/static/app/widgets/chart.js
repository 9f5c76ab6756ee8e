// @ts-check
// A chart over time: curves, bars below them on a separate scale, a sentence that describes
// them, and a table of the figures.

import { locale, t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { stamp } from "../words/time.js";

/**
 * Series is one curve, or the bars of one colour.
 * @typedef {object} Series
 * @property {string} name
 * @property {(number | null)[]} values one for each time; null if unknown
 * @property {(number | null)[]} [drawn] what is drawn instead of the values: bars that stand on others
 * @property {string} colour the name of a custom property: "--accent"
 * @property {string} [fill] likewise
 * @property {boolean} [isStepped] a value applies until the next time
 * @property {{sign: string, at: number, dash: number[]}} [told] what tells a curve from others without
 *   its colour: a sign, written on the curve at a time of at, and the lengths of its dashes and
 *   gaps
 */

/** @typedef {{at: number, values: (number | null)[]}} ChartRow */
/** @typedef {typeof import("./plot.js").Plot} PlotView */

/**
 * @typedef {object} ChartProps
 * @property {string} label the chart's name, for screen readers and above the table: "Messages per
 *   second"
 * @property {string} summary what the chart shows, in one sentence
 * @property {number[]} at the times, seconds since 1970, oldest first
 * @property {Series[]} series
 * @property {Series[]} [lower] bars in a second plot below, from the back to the front
 * @property {string} unit of a value: "per minute"
 * @property {[number, number]} [range] the first and last time of the axis; by default those of at
 * @property {(index: number) => string} [moment] the time at an index, in words
 * @property {number} [top] the axis reaches at least this value
 * @property {number} [height] of a chart without a lower plot, px
 * @property {string} [zone] the time zone; by default the channel's
 * @property {(value: number) => string} [across] writes a value of at, if that isn't a time
 * @property {ChartRow[]} [rows] the table, oldest first; values in the order of series and lower
 * @property {string} [step] the time between the table's rows: "every 5 minutes"
 */

const figure = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });

const heights = { alone: 140, upper: 112, lower: 80 }; // px

/** @param {ChartProps} props */
export function Chart({ label, summary, at, series, lower, unit, top = 1, height = heights.alone, zone, range, moment, across, rows, step }) {
  const [pointed, point] = useState(null); // the index of the time under the pointer
  const all = lower ? [...series, ...lower] : series;
  const time = pointed === null || at[pointed] === undefined ? "" : (moment?.(pointed) ?? across?.(at[pointed]) ?? stamp(at[pointed] * 1000, zone));
  const shared = { at, zone, range, across, sync: lower && label, onPoint: point };
  return html`
    <figure class="chart" aria-label=${label}>
      <div role="img" aria-label=${t("widgets.chart-label", { label, summary })}>
        <${Legend} series=${all} unit=${unit} time=${time} index=${pointed} />
        <${LatePlot} ...${shared} series=${series} top=${top} height=${lower ? heights.upper : height} isTimeless=${!!lower} />
        ${lower && html`<${LatePlot} ...${shared} series=${lower} top=${1} height=${heights.lower} hasBars=${true} />`}
      </div>
      <figcaption>${summary}</figcaption>
      ${rows && html`<${Table} label=${label} series=${all} rows=${rows} step=${step} zone=${zone} />`}
    </figure>
  `;
}

let drawer = /** @type {PlotView | null} */ (null);

// LatePlot draws curves once the module that draws is loaded, because it is large. Its
// place has its height from the start.
/** @param {Parameters<PlotView>[0]} props */
function LatePlot(props) {
  const [Plot, setPlot] = useState(() => drawer);
  useEffect(() => {
    const load = async () => {
      try {
        ({ Plot: drawer } = await import("./plot.js"));
        setPlot(() => drawer);
      } catch {
        // The place stays empty. The sentence and the table have the figures, and the next chart
        // tries again.
      }
    };
    if (!Plot) load();
  }, []);
  return Plot ? html`<${Plot} ...${props} />` : html`<div class="plot" style=${{ height: `${props.height}px` }}></div>`;
}

// ChartToCome reserves a chart's place until its data arrives, so that nothing below moves.
export const ChartToCome = () => html`<div class="chart to-come"></div>`;

// Legend names the curves. While the pointer is over the chart, it adds their values at that time.
/** @param {{series: Series[], unit: string, time: string, index: number | null}} props */
function Legend({ series, unit, time, index }) {
  return html`
    <p class="legend">
      ${series.map(({ name, values, colour, told }) => html`
        <span class="curve">
          <${Swatch} colour=${colour} told=${told} />
          ${name}${time && html` <strong>${written(values[index])}</strong>`}
        </span>
      `)}
      <span class="muted">${time ? html`<time>${time}</time>` : unit}</span>
    </p>
  `;
}

// Swatch is a piece of a curve. It looks like the curve also without its colour, if that is told
// from others in another way.
/** @param {Pick<Series, "colour" | "told">} props */
export const Swatch = ({ colour, told }) => told
  ? html`<svg class="swatch told" width="32" height="2" aria-hidden="true"><line x2="32" y1="1" y2="1" stroke=${`var(${colour})`} stroke-width="2" stroke-dasharray=${told.dash.join(" ")} /></svg><strong>${told.sign}</strong> `
  : html`<span class="swatch" style=${{ background: `var(${colour})` }}></span>`;

/**
 * @param {{label: string, series: Series[], rows: ChartRow[], step: string, zone?: string}} props
 */
function Table({ label, series, rows, step, zone }) {
  const [isOpen, setOpen] = useState(false); // hidden rows aren't drawn
  return html`
    <details onToggle=${(event) => setOpen(event.target.open)}>
      <summary>${t("widgets.show-table")}</summary>
      ${isOpen && html`
        <div class="scrolls" role="region" tabindex="0" aria-label=${t("widgets.table-label", { label })}>
          <table>
            <caption>${t("widgets.table-caption", { label, step })}</caption>
            <thead><tr><th scope="col">${t("widgets.table-from")}</th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
            <tbody>
              ${rows.map(({ at, values }) => html`
                <tr key=${at}><th scope="row">${stamp(at * 1000, zone)}</th>${values.map((value) => html`<td>${written(value)}</td>`)}</tr>
              `)}
            </tbody>
          </table>
        </div>
      `}
    </details>
  `;
}

/** @param {number | null | undefined} value */
const written = (value) => (value == null ? t("widgets.unknown") : figure.format(value));
