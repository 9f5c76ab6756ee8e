// @ts-check
// What a drawing of a lane needs to know, and what all drawings share.

import { isShared, isText } from "../../app/words/scopes.js";
/** @import { Picture } from "../engine.js" */
/** @import { Entry, Grant } from "../tape.js" */

/** @typedef {Record<string, string>} Colors by the name of a custom property, without its dashes */

/**
 * View is one limit of a lane, drawn at a lab time into its part of the lane's canvas.
 * @typedef {object} View
 * @property {CanvasRenderingContext2D} context
 * @property {Colors} colors
 * @property {Entry[]} entries of the lane
 * @property {Grant[]} grants of the lane
 * @property {number} last index of the last entry that has come
 * @property {number} index of the limit in its lane
 * @property {Record<string, number>} numbers of the limit; durations in ms
 * @property {string} [per] who shares the limit
 * @property {number} now the lab time
 * @property {number} start the time of day at lab time 0, Unix ms
 * @property {number} from the lab time at the left edge
 * @property {number} line where "now" is, px
 * @property {number} edge the right end of the range, px; the gauges are right of it
 * @property {number} width of the canvas, px
 * @property {number} top of the limit's part, px
 * @property {number} height of the limit's part, px
 * @property {number} marksHeight of the part with the marks, at the top of the canvas, px
 */

/**
 * Drawing is how an algorithm is drawn and described.
 * @template P the state at a time
 * @typedef {object} Drawing
 * @property {(v: Moment) => P} at the state at a time: between messages, it changes linearly
 * @property {(state: P, v: Moment) => string} words of that state
 * @property {(state: P, v: Moment) => number} wait until there is room for one more message, ms
 * @property {(v: View, state: P) => void} draw
 */

/** @typedef {Pick<View, "entries" | "last" | "index" | "numbers" | "per" | "now" | "start">} Moment */

// x returns where a lab time is.
/** @param {View} v @param {number} time */
export const x = (v, time) => ((time - v.from) / (v.now - v.from)) * v.line;

// pictureAt returns the state of a limit right after an entry; it is empty before the first one,
// and in a limit on repeated text that doesn't count the entry.
/** @param {Moment} v @param {number} i @returns {Picture} */
export const pictureAt = ({ entries, index }, i) => entries[i]?.pictures[index] ?? {};

// counter returns a function that reports whether an entry counts in the state that is shown: it
// has passed, and shares the allowance of the last one.
/** @param {Pick<View, "entries" | "last" | "index" | "per">} v @returns {(entry: Entry) => boolean} */
export function counter({ entries, last, index, per }) {
  const shown = entries[last], text = shown?.pictures[index]?.text_number ?? 0;
  return ({ mark, user, pictures }) => mark !== "throttled" && (isShared({ per }) || (isText({ per }) ? text > 0 && pictures[index]?.text_number === text : user === shown.user));
}

// firstShown returns the index of the first entry whose state reaches into the view.
/** @param {View} v */
export function firstShown({ entries, last, from }) {
  let low = 0, high = last + 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle].at < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {View} v @param {string} text @param {number} x @param {number} y @param {{color?: string, align?: CanvasTextAlign, isBold?: boolean}} [how] */
export function write({ context, colors }, text, x, y, { color = "muted", align = "left", isBold = false } = {}) {
  context.font = `${isBold ? 600 : 400} 11.5px system-ui, sans-serif`;
  context.textAlign = align;
  context.textBaseline = "middle";
  context.fillStyle = colors[color];
  context.fillText(text, x, y);
}

/** @param {View} v @param {string} color @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {number[]} [dash] */
export function line({ context, colors }, color, x1, y1, x2, y2, dash = []) {
  context.strokeStyle = colors[color];
  context.lineWidth = 1;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
  context.setLineDash([]);
}

/** @param {View} v @param {string} color @param {number} x @param {number} y @param {number} width @param {number} height @param {number} [alpha] */
export function fill({ context, colors }, color, x, y, width, height, alpha = 1) {
  context.globalAlpha = alpha;
  context.fillStyle = colors[color];
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
}

/** @param {View} v @param {string} color @param {number} x @param {number} y @param {number} width @param {number} height */
export function frame({ context, colors }, color, x, y, width, height) {
  context.strokeStyle = colors[color];
  context.lineWidth = 1;
  context.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.round(width) - 1, Math.round(height) - 1);
}

// clip draws something only left of the line "now", and right of the start of the scene.
/** @param {View} v @param {() => void} draw */
export function clip(v, draw) {
  const { context, line, top, height } = v, left = Math.max(0, x(v, 0) - 0.5);
  context.save();
  context.beginPath();
  context.rect(left, 0, Math.max(0, line - left), top + height);
  context.clip();
  draw();
  context.restore();
}

const margin = 12; // px between the range and the gauge

// gauge returns where a limit's gauge is: right of the range.
/** @param {View} v */
export const gauge = (v) => ({ left: v.edge + margin, width: v.width - v.edge - margin, top: v.top + 4, height: v.height - 8 });

const mostCells = 20, leastPitch = 7; // px

// cells draws an amount as cells that fill one after another: tokens in a bucket. Without space for
// them it draws a bar.
/** @param {View} v @param {string} color @param {number} amount @param {number} capacity @param {{left: number, width: number, top: number, height: number}} place */
export function cells(v, color, amount, capacity, { left, width, top, height }) {
  const count = Math.max(1, Math.min(capacity, mostCells)), each = capacity / count;
  const pitch = Math.min(14, width / count), gap = pitch > 8 ? 2 : 1;
  if (pitch < leastPitch) {
    fill(v, color, left, top, width * Math.min(1, Math.max(0, amount / capacity)), height);
    frame(v, "edge", left, top, width, height);
    return;
  }
  for (let i = 0; i < count; i++) {
    const part = Math.min(1, Math.max(0, (amount - i * each) / each));
    const filled = (height - 2) * part;
    if (part > 0) fill(v, color, left + i * pitch + 1, top + height - 1 - filled, pitch - gap - 2, filled, part < 1 ? 0.45 : 1);
    frame(v, "edge", left + i * pitch, top, pitch - gap, height);
  }
}
