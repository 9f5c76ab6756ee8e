// @ts-check
// The curves of a chart, on a canvas as wide as its container. They have the page's colours, light
// or dark.

import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import uPlot from "../../vendor/uplot.js";
/** @import { Series } from "./chart.js" */

const height = 140; // px, as in app.css
const day = 86400; // seconds

const amounts = new Intl.NumberFormat("en-GB");

// Plot calls onPoint with the index of the time under the pointer, or null.
/**
 * @param {{at: number[], series: Series[], top: number, zone?: string, onPoint: (index: number | null) => void}} props
 */
export function Plot({ at, series, top, zone, onPoint }) {
  const place = useRef(null);
  const plot = useRef(null);
  const data = [at, ...series.map(({ values }) => values)];
  const names = series.map(({ name }) => name).join();
  useLayoutEffect(() => {
    const drawn = (plot.current = new uPlot(options(place.current.clientWidth, series, top, zone, onPoint), data, place.current));
    const room = new ResizeObserver(([{ contentRect: { width } }]) => drawn.setSize({ width, height }));
    const recolour = () => drawn.redraw(false);
    room.observe(place.current);
    addEventListener("themechange", recolour);
    return () => {
      room.disconnect();
      removeEventListener("themechange", recolour);
      drawn.destroy();
    };
  }, [top, zone, names]);
  useLayoutEffect(() => plot.current.setData(data), data);
  return html`<div class="plot" ref=${place}></div>`;
}

/** @param {string} name */
const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

/** @param {Intl.DateTimeFormatOptions} parts @param {string | undefined} timeZone */
const format = (parts, timeZone) => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: timeZone || undefined });

/**
 * @param {number} width
 * @param {Series[]} series
 * @param {number} top
 * @param {string | undefined} zone
 * @param {(index: number | null) => void} onPoint
 */
function options(width, series, top, zone, onPoint) {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: () => colourOf("--muted"), grid: { stroke: () => colourOf("--hairline"), width: 1 }, ticks: { show: false }, font };
  const hours = format({ hour: "2-digit", minute: "2-digit" }, zone);
  const days = format({ weekday: "short", day: "numeric" }, zone);
  return {
    width,
    height,
    /** @param {number} seconds */
    tzDate: (seconds) => (zone ? uPlot.tzDate(new Date(seconds * 1000), zone) : new Date(seconds * 1000)),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (/** @type {uPlot} */ _, /** @type {number} */ __, /** @type {number | null} */ most) => [0, Math.max(top, (most ?? 0) * 1.05)] } },
    axes: [
      { ...axis, space: 72, size: 24, gap: 4, values: (/** @type {uPlot} */ _, /** @type {number[]} */ splits, /** @type {number} */ __, /** @type {number} */ ___, /** @type {number} */ step) => splits.map((at) => (step < day ? hours : days).format(at * 1000)) },
      { ...axis, space: 28, size: 44, gap: 4, values: (/** @type {uPlot} */ _, /** @type {number[]} */ splits) => splits.map((value) => amounts.format(value)) },
    ],
    series: [{}, ...series.map(curve)],
    hooks: { setCursor: [(/** @type {uPlot} */ plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

/** @param {Series} of */
function curve({ name, colour, fill, isStepped }) {
  return {
    label: name,
    stroke: () => colourOf(colour),
    fill: fill && (() => colourOf(fill)),
    width: 1.5,
    points: { show: false },
    ...(isStepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
  };
}
