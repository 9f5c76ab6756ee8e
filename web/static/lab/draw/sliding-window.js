// @ts-check
// A sliding window, estimated from the counts of slices of the clock, by default of whole windows.
// The oldest slice counts only by the part of it that is still within the window.

import { t } from "../../text/text.js";
import { fixed } from "../numbers.js";
import { bracket, excess } from "./excess.js";
import { cells, clip, fill, frame, gauge, line, pictureAt, write, x } from "./view.js";
/** @import { Drawing, Moment } from "./view.js" */

/**
 * @typedef {object} Slices
 * @property {number} from the start of the current slice, a lab time
 * @property {number} length of a slice, ms
 * @property {number[]} counts of the slices, the current one first
 * @property {number} whole the sum of all counts but the oldest
 * @property {number} oldest the count of the oldest
 * @property {number} weight the part of it that counts
 * @property {number} estimate
 */

// slicesAt returns the slices at the time of the view. When a slice ends, all slices become one
// older.
/** @param {Moment} v @returns {Slices} */
function slicesAt(v) {
  const { every, slices } = v.numbers, length = every / slices, now = v.start + v.now;
  const from = Math.floor(now / length) * length;
  const { from: knownFrom = from, current = 0, previous = 0, slices: known = [current, previous] } = v.last < 0 ? {} : pictureAt(v, v.last);
  const passed = Math.round((from - knownFrom) / length);
  const counts = Array.from({ length: slices + 1 }, (_, i) => known[i - passed] ?? 0);
  const oldest = counts[slices], whole = counts.reduce((sum, count) => sum + count, 0) - oldest;
  const weight = 1 - (now - from) / length;
  return { from: from - v.start, length, counts, whole, oldest, weight, estimate: oldest * weight + whole };
}

// sum spells an estimate out: "15 × 0.80 + 3 = 15.0".
/** @param {Slices} of */
const sum = ({ oldest, whole, weight, estimate }) => `${oldest} × ${fixed(weight, 2)} + ${whole} = ${fixed(estimate, 1)}`;

/** @type {Drawing<Slices>} */
export const slidingWindow = {
  at: slicesAt,
  words: (of, { numbers: { messages } }) => t("lab.count-of", { count: sum(of), messages }),
  wait: ({ counts, whole, estimate, from, length }, { now, numbers: { messages } }) => {
    if (estimate + 1 <= messages + 1e-9) return 0;
    let room = messages - whole - 1, passed = 0; // room for the oldest slice, and how many passed
    for (; room < 0; passed++) room += counts.at(-2 - passed);
    return from + length * (passed + 1 - Math.min(1, room / counts.at(-1 - passed))) - now;
  },
  draw: (v, of) => {
    const { from, length, counts, whole, oldest, weight, estimate } = of;
    const { every, messages } = v.numbers, { now, top, height } = v;
    clip(v, () => {
      counts.forEach((count, i) => {
        const left = Math.max(x(v, now - every), x(v, from - i * length)), right = Math.min(v.line, x(v, from + (1 - i) * length));
        fill(v, "accent", left, top + 4, right - left, height - 8, 0.12 + 0.2 * Math.min(1, (count * counts.length) / 2 / messages));
      });
      for (let box = from; box > v.from - length; box -= length) {
        frame(v, "edge", x(v, box), top + 4, x(v, box + length) - x(v, box), height - 8);
        line(v, "edge", x(v, box), 0, x(v, box), top, [3, 3]);
      }
      bracket(v, now - every);
      const middle = top + height / 2;
      if (counts.length > 2) {
        write(v, sum(of), v.line - 6, middle, { color: "text", align: "right" });
        return;
      }
      const overlap = x(v, from) - Math.max(0, x(v, now - every));
      if (overlap > 64) write(v, `${oldest} × ${fixed(weight, 2)}`, x(v, from) - 6, middle, { color: "text", align: "right" });
      if (v.line - x(v, from) > 28) write(v, `+ ${whole}`, x(v, from) + 6, middle, { color: "text" });
    });
    cells(v, "accent", estimate, messages, gauge(v));
    excess(v);
  },
};
