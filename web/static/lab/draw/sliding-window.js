// @ts-check
// A sliding window, estimated: the counts of two windows of the clock. Of the previous one counts
// the part that the window behind now still overlaps.

import { bracket, excess } from "./excess.js";
import { cells, clip, fill, frame, gauge, line, pictureAt, write, x } from "./view.js";
/** @import { Drawing, Moment } from "./view.js" */

/** @typedef {{from: number, previous: number, current: number, weight: number, estimate: number}} Two from is a lab time */

// twoAt returns the two windows at the time of the view. When a window ends, it is the previous one.
/** @param {Moment} v @returns {Two} */
function twoAt(v) {
  const { every } = v.numbers, now = v.start + v.now;
  const from = Math.floor(now / every) * every;
  const known = v.last < 0 ? {} : pictureAt(v, v.last);
  const { from: knownFrom = NaN, previous: before = 0, current: count = 0 } = known;
  const previous = knownFrom === from ? before : knownFrom === from - every ? count : 0;
  const current = knownFrom === from ? count : 0;
  const weight = 1 - (now - from) / every;
  return { from: from - v.start, previous, current, weight, estimate: previous * weight + current };
}

// sum spells an estimate out: "15 × 0.80 + 3 = 15.0".
/** @param {Two} two */
const sum = ({ previous, current, weight, estimate }) => `${previous} × ${weight.toFixed(2)} + ${current} = ${estimate.toFixed(1)}`;

/** @type {Drawing<Two>} */
export const slidingWindow = {
  at: twoAt,
  words: (two, { numbers: { messages } }) => `${sum(two)} of ${messages}`,
  wait: ({ previous, current, estimate, from }, { now, numbers: { messages, every } }) => {
    if (estimate + 1 <= messages + 1e-9) return 0;
    const room = messages - current - 1;
    return room >= 0 ? from + every * (1 - room / previous) - now : from + every * (2 - (messages - 1) / current) - now;
  },
  draw: (v, { from, previous, current, weight, estimate }) => {
    const { every, messages } = v.numbers, { now, top, height } = v;
    clip(v, () => {
      fill(v, "accent", x(v, now - every), top + 4, x(v, from) - x(v, now - every), height - 8, 0.12 + 0.2 * Math.min(1, previous / messages));
      fill(v, "accent", x(v, from), top + 4, v.line - x(v, from), height - 8, 0.12 + 0.2 * Math.min(1, current / messages));
      for (let box = from; box > v.from - every; box -= every) {
        frame(v, "edge", x(v, box), top + 4, x(v, box + every) - x(v, box), height - 8);
        line(v, "edge", x(v, box), 0, x(v, box), top, [3, 3]);
      }
      bracket(v, now - every);
      const middle = top + height / 2;
      const overlap = x(v, from) - Math.max(0, x(v, now - every));
      if (overlap > 64) write(v, `${previous} × ${weight.toFixed(2)}`, x(v, from) - 6, middle, { color: "text", align: "right" });
      if (v.line - x(v, from) > 28) write(v, `+ ${current}`, x(v, from) + 6, middle, { color: "text" });
    });
    cells(v, "accent", estimate, messages, gauge(v));
    excess(v);
  },
};
