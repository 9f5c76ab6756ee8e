// @ts-check
// The stage: one loop draws the lanes that are in sight, and writes their texts, which change with
// time. The rest of the page is drawn only when the state changes.

import { algorithmOf } from "../app/words/algorithms.js";
import { seconds } from "../app/words/time.js";
import { axisHeight, drawAxis, drawLane, heightOf, limitHeight, lineOf, marksHeightOf, prepare, readColors } from "./draw/canvas.js";
import { clock, keepAhead, played } from "./player.js";
import { lab } from "./state.js";
import { emptyStrip, lastBy } from "./tape.js";
/** @import { Colors, View } from "./draw/view.js" */
/** @import { Lane, Limit } from "./state.js" */

/**
 * Place is where a lane is on the page.
 * @typedef {object} Place
 * @property {HTMLCanvasElement} canvas
 * @property {boolean} isSeen
 * @property {number} width px
 * @property {number} chosen index of the entry that is named, or -1
 */

/** @type {Map<number, Place>} by the lane's ID; 0 is the axis */
export const places = new Map();

const textEvery = 100; // ms of lab time at normal speed, so that texts and picture agree
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {Colors} */
let colors;
let frame = 0, writtenAt = 0;
let isDue = true; // something is to be drawn although no time passes
let shown = { now: 0, at: -Infinity }; // the lab time that is shown, and when it was first drawn
/** @type {(now: number) => void} */
let write = () => {};

// onText calls a function to write what changes with time: ten times per second of lab time.
/** @param {(now: number) => void} texts */
export function onText(texts) {
  write = texts;
}

// spanOf returns how much lab time a lane shows, ms.
export const spanOf = () => lab.span || { 1: 60_000, 2: 90_000, 10: 300_000 }[clock.speed()] || 1_800_000;

// draw draws everything again with the next frame.
export function draw() {
  isDue = true;
  if (!frame) frame = requestAnimationFrame(tick);
}

/** @param {number} at */
function tick(at) {
  frame = 0;
  keepAhead();
  const now = timeShown(at);
  if (isDue || now !== shown.now) {
    shown = { now, at };
    colors ??= readColors();
    for (const lane of lab.lanes) drawOne(lane, now);
    drawTimes(now);
  }
  if (isDue || at - writtenAt >= textEvery / clock.speed()) {
    writtenAt = at;
    write(now);
  }
  isDue = false;
  if (clock.isPlaying() && !frame) frame = requestAnimationFrame(tick);
}

// timeShown returns the lab time to show. With reduced motion it changes once per second, or when a
// message comes.
/** @param {number} at */
function timeShown(at) {
  const now = clock.now();
  if (!still.matches || isDue || at - shown.at >= 1000 || now < shown.now) return now;
  const hasNews = [...played.tape.values()].some(({ entries }) => lastBy(entries, now) !== lastBy(entries, shown.now));
  return hasNews && at - shown.at >= textEvery ? now : shown.now;
}

/** @param {Lane} lane @param {number} now */
function drawOne(lane, now) {
  const place = places.get(lane.id);
  if (!place?.isSeen || place.width === 0) return;
  const context = prepare(place.canvas, place.width, heightOf(marksHeightOf(lab.lanes.length), lane.limits.length));
  drawLane(viewsOf(lane, now, context), lane.limits.map(({ algorithm }) => algorithm), place.chosen);
}

/** @param {number} now */
function drawTimes(now) {
  const place = places.get(0);
  if (!place || place.width === 0) return;
  const context = prepare(place.canvas, place.width, axisHeight);
  drawAxis({ ...momentOf(emptyStrip, now), ...windowOf(now, place.width), context, colors, index: 0, numbers: {}, top: 0, height: axisHeight, marksHeight: 0 });
}

// windowOf returns the range of lab time in view. A scene begins at the left, and "now" moves to
// the right until the view is full; then the view scrolls. With reduced motion nothing scrolls:
// when the view is full, it moves on by half.
/** @param {number} now @param {number} width */
export function windowOf(now, width) {
  const span = spanOf(), edge = lineOf(width);
  const begin = still.matches ? (Math.floor(now / (span / 2)) - 1) * (span / 2) : now - span;
  const from = Math.min(Math.max(0, begin), now - 1); // never a window without a length
  return { from, line: ((now - from) / span) * edge, edge, width };
}

/** @param {import("./tape.js").Strip} strip @param {number} now */
const momentOf = ({ entries, grants }, now) => ({ entries, grants, last: lastBy(entries, now), now, start: lab.start });

// viewsOf returns the views of a lane, one for each limit. Without a context, they can't be drawn,
// but tell where something is.
/** @param {Lane} lane @param {number} now @param {CanvasRenderingContext2D} [context] @returns {View[]} */
export function viewsOf(lane, now, context) {
  const strip = played.tape.get(lane.id) ?? emptyStrip, marksHeight = marksHeightOf(lab.lanes.length);
  const common = { ...momentOf(strip, now), ...windowOf(now, places.get(lane.id)?.width ?? 0), context, colors, height: limitHeight, marksHeight };
  return lane.limits.map((limit, index) => ({ ...common, index, per: limit.per, numbers: numbersOf(limit), top: marksHeight + index * limitHeight }));
}

/** @type {WeakMap<Limit, Record<string, number>>} */
const numbers = new WeakMap();

// numbersOf returns the numbers of a limit, with durations in ms. A missing number has the
// parameter's least value.
/** @param {Limit} limit */
export function numbersOf(limit) {
  if (!numbers.has(limit)) {
    /** @type {Record<string, any>} */
    const values = limit;
    const found = Object.entries(algorithmOf(limit).fields).map(([name, { isLength, least }]) => [name, isLength ? seconds(values[name] ?? "") * 1000 : (values[name] ?? least)]);
    numbers.set(limit, Object.fromEntries(found));
  }
  return numbers.get(limit);
}

// timeNow returns the lab time that the lanes show.
export const timeNow = () => shown.now;

const seen = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) for (const place of places.values()) if (place.canvas === target) place.isSeen = isIntersecting;
  draw();
});
const sized = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) for (const place of places.values()) if (place.canvas === target) place.width = Math.floor(contentRect.width);
  draw();
});

// enter puts the canvas of a lane on the stage. It returns a function that removes it.
/** @param {number} id @param {HTMLCanvasElement} canvas */
export function enter(id, canvas) {
  places.set(id, { canvas, isSeen: true, width: Math.floor(canvas.getBoundingClientRect().width), chosen: -1 });
  seen.observe(canvas);
  sized.observe(canvas);
  draw();
  return () => {
    places.delete(id);
    seen.unobserve(canvas);
    sized.unobserve(canvas);
  };
}

addEventListener("themechange", () => {
  colors = readColors();
  draw();
});
still.addEventListener("change", draw);
