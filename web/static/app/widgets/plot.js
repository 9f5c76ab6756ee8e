// @ts-check
// The curves or bars of a chart, on a canvas as wide as its container. They have the page's
// colours, light or dark.

import { locale } from "../../text/text.js";
import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import uPlot from "../../vendor/uplot.js";
import { channelZone } from "../core/state.js";
/** @import { Series } from "./chart.js" */

const day = 86400; // seconds
const few = 3; // so few known values need points, because they make no line

const amounts = new Intl.NumberFormat(locale, { notation: "compact" });

// wholeSteps are the distances between the lines of an axis of whole numbers.
const wholeSteps = Array.from({ length: 10 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat();

/**
 * @typedef {object} PlotProps
 * @property {number[]} at the times, seconds since 1970
 * @property {Series[]} series
 * @property {number} height in px
 * @property {number} top the value axis reaches at least this value
 * @property {string} [zone]
 * @property {[number, number]} [range] the first and last time of the time axis, seconds
 * @property {boolean} [hasBars] whether the values are bars, the last series in front
 * @property {boolean} [isTimeless] whether the time axis is left out, because a plot below has it
 * @property {(value: number) => string} [across] writes a value of the lower axis, if that isn't a time
 * @property {string} [sync] plots with this name have one pointer
 * @property {(index: number | null) => void} onPoint gets the index of the time under the pointer
 */

/** @param {PlotProps} props */
export function Plot({ at, series, height, top, zone = channelZone(), range, hasBars, isTimeless, across, sync, onPoint }) {
  const place = useRef(null);
  const plot = useRef(null);
  const live = useRef(/** @type {[number, number] | undefined} */ (undefined));
  live.current = range;
  const data = [at, ...series.map(({ values, drawn = values }) => drawn)];
  const names = series.map(({ name }) => name).join();
  useLayoutEffect(() => {
    const size = { width: place.current.clientWidth, height };
    const drawn = (plot.current = new uPlot(options({ size, series, top, zone, live, hasBars, isTimeless, across, sync, onPoint }), data, place.current));
    const room = new ResizeObserver(([{ contentRect: { width } }]) => drawn.setSize({ width, height }));
    const recolour = () => drawn.redraw(false);
    room.observe(place.current);
    addEventListener("themechange", recolour);
    return () => {
      room.disconnect();
      removeEventListener("themechange", recolour);
      drawn.destroy();
    };
  }, [top, zone, names, height]);
  useLayoutEffect(() => plot.current.setData(data), [...data, ...(range ?? [])]);
  return html`<div class="plot" style=${{ height: `${height}px` }} ref=${place}></div>`;
}

/** @param {string} name */
const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

/** @param {Intl.DateTimeFormatOptions} parts @param {string | undefined} timeZone */
const format = (parts, timeZone) => new Intl.DateTimeFormat(locale, { ...parts, timeZone: timeZone || undefined });

/** @param {any} of */
function options({ size, series, top, zone, live, hasBars, isTimeless, across, sync, onPoint }) {
  return {
    ...size,
    padding: [6, 18, isTimeless ? 4 : 0, 0],
    /** @param {number} seconds */
    tzDate: (seconds) => (zone ? uPlot.tzDate(new Date(seconds * 1000), zone) : new Date(seconds * 1000)),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: !hasBars, size: 6 }, ...(sync && { sync: { key: sync } }) },
    scales: {
      x: { time: !across, range: (/** @type {uPlot} */ _, /** @type {number} */ least, /** @type {number} */ most) => live.current ?? [least, most] },
      y: { range: (/** @type {uPlot} */ _, /** @type {number} */ __, /** @type {number | null} */ most) => [0, Math.max(top, (most ?? 0) * 1.05)] },
    },
    axes: axes(zone, isTimeless, across),
    series: [{}, ...series.map((/** @type {Series} */ one) => (hasBars ? bars(one) : curve(one)))],
    hooks: { draw: [(/** @type {uPlot} */ plot) => sign(plot, series)], setCursor: [(/** @type {uPlot} */ plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

/** @param {string | undefined} zone @param {boolean} isTimeless @param {(value: number) => string} [across] */
function axes(zone, isTimeless, across) {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: () => colourOf("--muted"), grid: { stroke: () => colourOf("--hairline"), width: 1 }, ticks: { show: false }, font };
  const seconds = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" }, zone);
  const hours = format({ hour: "2-digit", minute: "2-digit" }, zone);
  const days = format({ weekday: "short", day: "numeric" }, zone);
  /** @param {number} step */
  const writer = (step) => (step < 60 ? seconds : step < day ? hours : days);
  return [
    {
      ...axis, space: 72, size: isTimeless ? 0 : 24, gap: 4, ...(across && { incrs: wholeSteps }),
      values: (/** @type {uPlot} */ _, /** @type {number[]} */ splits, /** @type {number} */ __, /** @type {number} */ ___, /** @type {number} */ step) =>
        splits.map((at) => (isTimeless ? "" : across ? across(at) : writer(step).format(at * 1000))),
    },
    { ...axis, space: 24, size: 44, gap: 4, incrs: wholeSteps, values: (/** @type {uPlot} */ _, /** @type {number[]} */ splits) => splits.map((value) => amounts.format(value)) },
  ];
}

// sign writes the signs of curves on them.
/** @param {uPlot} plot @param {Series[]} series */
function sign({ ctx: context, data: [at, ...values], valToPos: place }, series) {
  context.save();
  context.font = `600 ${13 * uPlot.pxRatio}px system-ui, sans-serif`;
  Object.assign(context, { textAlign: "center", textBaseline: "middle", lineJoin: "round", lineWidth: 5 * uPlot.pxRatio });
  series.forEach(({ told, colour }, i) => {
    if (!told) return;
    const x = place(told.at, "x", true), y = place(values[i][at.findLastIndex((time) => time <= told.at)], "y", true);
    Object.assign(context, { strokeStyle: colourOf("--ground"), fillStyle: colourOf(colour) });
    context.strokeText(told.sign, x, y);
    context.fillText(told.sign, x, y);
  });
  context.restore();
}

/** @param {Series} of */
function curve({ name, values, colour, fill, isStepped, told }) {
  return {
    label: name,
    stroke: () => colourOf(colour),
    fill: fill && (() => colourOf(fill)),
    width: 1.5,
    ...(told && { dash: told.dash }),
    points: {
      show: (/** @type {uPlot} */ plot, /** @type {number} */ i) => plot.data[i].filter((/** @type {number | null} */ value) => value !== null).length < few,
      size: 7, fill: () => colourOf(colour),
    },
    ...(isStepped && { paths: uPlot.paths.stepped({ align: 1 }) }),
  };
}

/** @param {Series} of */
function bars({ name, colour }) {
  return { label: name, stroke: () => colourOf(colour), fill: () => colourOf(colour), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.8, 24, 2] }) };
}
