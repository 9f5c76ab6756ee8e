// @ts-check
// The canvas of a lane: its marks above, each of its limits below.

import { t } from "../../text/text.js";
import { secondsText } from "../clock.js";
import { drawGrants, drawMarks } from "./marks.js";
import { drawingOf } from "./drawings.js";
import { line, write, x } from "./view.js";
/** @import { Colors, View } from "./view.js" */

export const limitHeight = 36, axisHeight = 20; // px
const gaugeWidth = 150, narrowGauge = 76; // px

const mostRatio = 2; // device pixels per pixel: more costs time and shows nothing

/** @type {Record<string, string>} */
const properties = {
  text: "--text", muted: "--muted", hairline: "--hairline", edge: "--button-edge", accent: "--accent", ground: "--ground", throttled: "--series-throttled", low: "--sev-timeout", warn: "--warn",
};

// readColors reads the colours of the theme.
/** @returns {Colors} */
export function readColors() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, style.getPropertyValue(property).trim()]));
}

// prepare clears a canvas and returns its context. The canvas gets as many pixels as it needs.
/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function prepare(canvas, width, height) {
  const ratio = Math.min(mostRatio, devicePixelRatio || 1);
  const wide = Math.round(width * ratio), high = Math.round(height * ratio);
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// lineOf returns where "now" is on a canvas.
/** @param {number} width */
export const lineOf = (width) => width - (width < 520 ? narrowGauge : gaugeWidth);

// marksHeightOf returns the height of the part with the marks. Few lanes have more space, but not
// on a phone.
/** @param {number} lanes */
export const marksHeightOf = (lanes) => (lanes > 4 ? 60 : lanes > 2 || innerWidth < 700 ? 84 : 132);

/** @param {number} marks the height of the part with the marks @param {number} limits */
export const heightOf = (marks, limits) => marks + limits * limitHeight;

// drawLane draws a lane. views has one view for each of its limits.
/** @param {View[]} views @param {string[]} algorithms @param {number} chosen index of the entry that is named, or -1 */
export function drawLane(views, algorithms, chosen) {
  const [first] = views;
  const height = heightOf(first.marksHeight, views.length);
  grid(first, height);
  views.forEach((v, i) => {
    const drawing = drawingOf(algorithms[i]);
    drawing.draw(v, drawing.at(v));
  });
  drawMarks(first, chosen);
  drawGrants(first);
  line(first, "accent", first.line, 0, first.line, height);
}

const ticks = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000]; // ms
const tickWidth = 76; // px at least

/** @param {View} v @param {(time: number) => void} see */
function eachTick(v, see) {
  const least = (tickWidth * (v.now - v.from)) / v.line;
  const tick = ticks.find((one) => one >= least) ?? ticks.at(-1);
  for (let time = Math.max(0, Math.ceil(v.from / tick) * tick); time < v.now; time += tick) see(time);
}

/** @param {View} v @param {number} height */
function grid(v, height) {
  eachTick(v, (time) => line(v, "hairline", Math.round(x(v, time)) + 0.5, 0, Math.round(x(v, time)) + 0.5, height));
}

// drawAxis writes the lab times above the lanes.
/** @param {View} v */
export function drawAxis(v) {
  eachTick(v, (time) => x(v, time) < v.line - 40 && write(v, axisText(time), x(v, time), axisHeight / 2, { align: x(v, time) < 20 ? "left" : "center" }));
  write(v, t("lab.now"), Math.max(v.line, 16), axisHeight / 2, { color: "accent", align: "center", isBold: true });
}

/** @param {number} ms */
function axisText(ms) {
  const seconds = ms / 1000, minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  if (seconds < 60) return secondsText(seconds);
  const rest = String(seconds % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}
