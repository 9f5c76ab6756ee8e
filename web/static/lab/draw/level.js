// @ts-check
// The level of a bucket over time: it falls with each message and rises evenly, until it is full.

import { fixed } from "../numbers.js";
import { clip, firstShown, line, x } from "./view.js";
/** @import { Moment, View } from "./view.js" */

/**
 * @typedef {object} Bucket
 * @property {number} capacity
 * @property {number} refill ms for each token
 * @property {(v: Moment, i: number) => number} after the level right after an entry
 */

// levelAt returns the level of a bucket at the time of the view.
/** @param {Moment} v @param {Bucket} bucket */
export function levelAt(v, { capacity, refill, after }) {
  if (v.last < 0) return capacity;
  return Math.min(capacity, after(v, v.last) + (v.now - v.entries[v.last].at) / refill);
}

// tokensText writes a number of tokens, rounded down, because only a whole one pays: "2.9".
/** @param {number} tokens */
export const tokensText = (tokens) => fixed(Math.floor(tokens * 10 + 1e-6) / 10, 1);

// drawLevel draws the level as a line over the whole view.
/** @param {View} v @param {Bucket} bucket @param {string} color @param {number} top @param {number} height */
export function drawLevel(v, bucket, color, top, height) {
  const { capacity } = bucket;
  /** @param {number} level */
  const y = (level) => top + height - Math.min(1, Math.max(0, level / capacity)) * height;
  for (let whole = 0; whole <= capacity && capacity <= 6; whole++) line(v, "hairline", Math.max(0, x(v, 0)), y(whole), v.line, y(whole));
  clip(v, () => {
    const points = levelPoints(v, bucket);
    const { context, colors } = v;
    const path = () => {
      context.beginPath();
      points.forEach(([time, level], i) => (i === 0 ? context.moveTo(x(v, time), y(level)) : context.lineTo(x(v, time), y(level))));
    };
    path();
    context.lineTo(v.line, y(0));
    context.lineTo(x(v, points[0][0]), y(0));
    context.globalAlpha = 0.12;
    context.fillStyle = colors[color];
    context.fill();
    context.globalAlpha = 1;
    path();
    context.strokeStyle = colors[color];
    context.lineWidth = 1.5;
    context.stroke();
  });
}

// levelPoints returns the corners of the line: [lab time, level].
/** @param {View} v @param {Bucket} bucket @returns {[number, number][]} */
export function levelPoints(v, { capacity, refill, after }) {
  const first = firstShown(v);
  let time = first > 0 ? v.entries[first - 1].at : Math.max(0, v.from);
  let level = first > 0 ? after(v, first - 1) : capacity;
  /** @type {[number, number][]} */
  const points = [[time, level]];
  /** @param {number} next */
  const rise = (next) => {
    const full = time + (capacity - level) * refill;
    if (full < next && level < capacity) points.push([full, capacity]);
    points.push([next, Math.min(capacity, level + (next - time) / refill)]);
  };
  for (let i = first; i <= v.last; i++) {
    rise(v.entries[i].at);
    time = v.entries[i].at;
    level = after(v, i);
    points.push([time, level]);
  }
  rise(v.now);
  return points;
}
