// @ts-check
// The marks of messages: ● passes, ◐ passes at low priority, ⊖ throttled, ○ waits in a queue.
// Marks of about the same time are stacked.

import { firstShown, write, x } from "./view.js";
/** @import { Entry } from "../tape.js" */
/** @import { View } from "./view.js" */

const radius = 3.5, pitch = 9; // px
const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000]; // ms

// columnOf returns how much lab time a column of marks covers. This is a round time, so that marks
// stay in their columns while they move.
/** @param {View} v */
export function columnOf(v) {
  const least = (pitch * (v.now - v.from)) / v.line;
  return steps.find((step) => step >= least) ?? steps.at(-1);
}

// eachMark calls a function for each mark in the view, from left to right. at and y are its centre.
/** @param {View} v @param {(entry: Entry, at: number, y: number, index: number) => void} see */
export function eachMark(v, see) {
  const column = columnOf(v), { entries, last, marksHeight } = v;
  /** @param {number} i */
  const columnAt = (i) => Math.floor(entries[i].at / column);
  let first = firstShown(v);
  while (first > 0 && columnAt(first - 1) === columnAt(Math.min(first, last))) first--;
  for (let i = first; i <= last; ) {
    let next = i + 1;
    while (next <= last && columnAt(next) === columnAt(i)) next++;
    const at = Math.max(radius, Math.min(x(v, (columnAt(i) + 0.5) * column), v.line - radius));
    const step = Math.min(pitch, (marksHeight - pitch) / Math.max(1, next - i - 1));
    for (let place = 0; i < next; i++, place++) see(entries[i], at, marksHeight - pitch / 2 - place * step, i);
  }
}

/** @param {View} v @param {number} chosen index of the entry that is named, or -1 */
export function drawMarks(v, chosen) {
  const { context, colors, now } = v;
  context.lineWidth = 1.3;
  eachMark(v, ({ mark, leaves }, at, y, i) => {
    const isWaiting = mark !== "throttled" && leaves > now;
    drawMark(context, colors, isWaiting ? "waiting" : mark, at, y);
    if (i === chosen) ring(context, colors, at, y);
  });
}

// drawGrants writes how many extra messages were granted, above the marks.
/** @param {View} v */
export function drawGrants(v) {
  for (const { at, messages } of v.grants) if (at >= v.from && at <= v.now) write(v, `+${messages}`, Math.min(x(v, at), v.line - 14), 8, { color: "text", align: "center", isBold: true });
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Record<string, string>} colors
 * @param {"passes" | "low" | "throttled" | "waiting"} mark
 * @param {number} x
 * @param {number} y
 */
function drawMark(context, colors, mark, x, y) {
  const color = colors[mark === "throttled" ? "throttled" : mark === "low" ? "low" : "accent"];
  context.fillStyle = mark === "passes" ? color : colors.ground;
  context.strokeStyle = color;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
  if (mark === "passes") context.strokeStyle = colors.ground; // parts marks that overlap
  context.stroke();
  if (mark === "low") {
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, radius, Math.PI / 2, (3 * Math.PI) / 2);
    context.fill();
  }
  if (mark === "throttled") {
    context.beginPath();
    context.moveTo(x - radius, y);
    context.lineTo(x + radius, y);
    context.stroke();
  }
}

/** @param {CanvasRenderingContext2D} context @param {Record<string, string>} colors @param {number} x @param {number} y */
function ring(context, colors, x, y) {
  context.strokeStyle = colors.text;
  context.beginPath();
  context.arc(x, y, radius + 3, 0, 2 * Math.PI);
  context.stroke();
}

// nearest returns the index of the mark next to a place, at most a few pixels away, or -1.
/** @param {View} v @param {number} left @param {number} top */
export function nearest(v, left, top) {
  let found = -1, least = 14 ** 2;
  eachMark(v, (_, at, y, i) => {
    const far = (at - left) ** 2 + (y - top) ** 2;
    if (far <= least) [found, least] = [i, far];
  });
  return found;
}

// placeOf returns where the mark of an entry is, or null if it isn't in the view.
/** @param {View} v @param {number} index @returns {{left: number, top: number} | null} */
export function placeOf(v, index) {
  let place = null;
  eachMark(v, (_, at, y, i) => i === index && (place = { left: at, top: y }));
  return place;
}
