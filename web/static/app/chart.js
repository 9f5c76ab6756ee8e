// A chart of what has changed over time: curves to look at, a sentence that says what they show, and a table for who wants the figures or can't see.
//
//   label    what it is called, for screen readers and above the table: "Messages a second"
//   summary  what it shows, in one sentence; empty while that isn't known
//   at       the times, seconds since 1970, oldest first
//   series   [{ name, values, colour, fill, isStepped }]: values has one for each time, null where it isn't known; colour and fill are the names of
//            custom properties ("--accent"), fill may be missing; a stepped value holds until the next time
//   unit     what stands behind a value: "a second"
//   top      the axis reaches so far at least
//   zone     the time zone it is drawn in; empty is the browser's own
//   rows     the table: [{ at, values }], oldest first, values in the order of series
//   step     how far apart its rows are: "5 minutes"

import { html, useState } from "../vendor/htm-preact.js";
import { Plot } from "./plot.js";
import { stamp } from "./time.js";

const figure = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1 });

export function Chart({ label, summary, at, series, unit, top = 1, zone, rows, step }) {
  const [pointed, point] = useState(null); // the index of the time that the pointer is at
  return html`
    <figure class="chart" aria-label=${label}>
      <div role="img" aria-label=${`${label}. ${summary}`}>
        <${Legend} series=${series} unit=${unit} time=${at[pointed]} index=${pointed} zone=${zone} />
        <${Plot} at=${at} series=${series} top=${top} zone=${zone} onPoint=${point} />
      </div>
      <figcaption>${summary}</figcaption>
      <${Table} label=${label} series=${series} rows=${rows} step=${step} zone=${zone} />
    </figure>
  `;
}

// ChartToCome keeps a chart's place while what it shows isn't there yet: what stands below doesn't move when it comes.
export const ChartToCome = () => html`<div class="chart to-come"></div>`;

// Legend names the curves; while the pointer is over the chart, it says what they are there.
function Legend({ series, unit, time, index, zone }) {
  return html`
    <p class="legend">
      ${series.map(({ name, values, colour }) => html`
        <span class="curve">
          <span class="swatch" style=${{ background: `var(${colour})` }}></span>
          ${name}${time && html` <strong>${written(values[index])}</strong>${values[index] != null && " " + unit}`}
        </span>
      `)}
      ${time && html`<time class="muted">${stamp(time * 1000, zone)}</time>`}
    </p>
  `;
}

function Table({ label, series, rows, step, zone }) {
  const [isOpen, setOpen] = useState(false); // rows that nobody looks at aren't drawn
  return html`
    <details onToggle=${(event) => setOpen(event.target.open)}>
      <summary>Show as a table</summary>
      ${isOpen && html`
        <div class="scrolls" role="region" tabindex="0" aria-label="Table: ${label}">
          <table>
            <caption>${label}, every ${step}</caption>
            <thead><tr><th scope="col">From</th>${series.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
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

const written = (value) => (value == null ? "not known" : figure.format(value));
