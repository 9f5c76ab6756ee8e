// The curves of a chart, on a canvas that is as wide as there is room. They take their colours from the page, and follow it into the dark.

import { html, useLayoutEffect, useRef } from "../vendor/htm-preact.js";
import uPlot from "../vendor/uplot.js";

const height = 140; // px, as in the style
const day = 86400; // seconds

const amounts = new Intl.NumberFormat("en-GB");

// Plot tells onPoint the index of the time that the pointer is at, null where it is elsewhere.
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
    scheme.addEventListener("change", recolour);
    return () => {
      room.disconnect();
      scheme.removeEventListener("change", recolour);
      drawn.destroy();
    };
  }, [top, zone, names]);
  useLayoutEffect(() => plot.current.setData(data), data);
  return html`<div class="plot" ref=${place}></div>`;
}

const scheme = matchMedia("(prefers-color-scheme: dark)");

const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

const format = (parts, timeZone) => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: timeZone || undefined });

function options(width, series, top, zone, onPoint) {
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: () => colourOf("--muted"), grid: { stroke: () => colourOf("--hairline"), width: 1 }, ticks: { show: false }, font };
  const hours = format({ hour: "2-digit", minute: "2-digit" }, zone);
  const days = format({ weekday: "short", day: "numeric" }, zone);
  return {
    width,
    height,
    tzDate: (seconds) => (zone ? uPlot.tzDate(new Date(seconds * 1000), zone) : new Date(seconds * 1000)),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_, __, most) => [0, Math.max(top, (most ?? 0) * 1.05)] } },
    axes: [
      { ...axis, space: 72, size: 24, gap: 4, values: (_, splits, __, ___, step) => splits.map((at) => (step < day ? hours : days).format(at * 1000)) },
      { ...axis, space: 28, size: 44, gap: 4, values: (_, splits) => splits.map((value) => amounts.format(value)) },
    ],
    series: [{}, ...series.map(curve)],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  };
}

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
