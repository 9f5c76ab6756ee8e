// @ts-check
// Windows with a start and an end: boxes that fill up, and begin empty again. A fixed window and a
// daily window are cut by the clock, a user window by its first message.

import { t } from "../../text/text.js";
import { spanText } from "../clock.js";
import { excess } from "./excess.js";
import { cells, clip, fill, firstShown, frame, gauge, line, pictureAt, write, x } from "./view.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Drawing, Moment, View } from "./view.js" */

/** @typedef {{from: number, until: number, count: number, isOpen: boolean}} Box times are lab times */

// boxAt returns the window after an entry.
/** @param {Moment} v @param {number} i @returns {Box} */
function boxAt(v, i) {
  const { from = NaN, until = NaN, count = 0 } = pictureAt(v, i);
  return { from: from - v.start, until: until - v.start, count, isOpen: true };
}

// byClock returns the clock's window that contains a time, without messages.
/** @param {Moment} v @param {number} time @returns {Box} */
function byClock({ start, numbers: { every } }, time) {
  const from = Math.floor((start + time) / every) * every - start;
  return { from, until: from + every, count: 0, isOpen: true };
}

/** @param {Moment} v @param {boolean} isCut by a clock whose windows are known in advance @returns {Box} */
function present(v, isCut) {
  const box = v.last < 0 ? null : boxAt(v, v.last);
  if (box && box.until > v.now) return box;
  return isCut ? byClock(v, v.now) : { from: v.now, until: v.now, count: 0, isOpen: false };
}

/** @param {View} v @param {Box} box @param {number} from @param {number} until @param {number} count */
function area(v, { from: start }, from, until, count) {
  const left = x(v, Math.max(from, start)), height = (Math.min(count, v.numbers.messages) / v.numbers.messages) * (v.height - 8);
  fill(v, "accent", left, v.top + v.height - 4 - height, x(v, until) - left, height, count >= v.numbers.messages ? 0.38 : 0.22);
}

// drawBox draws a window, and its count if there is space for it.
/** @param {View} v @param {Box} box */
function drawBox(v, { from, until, count }) {
  const left = x(v, from), right = x(v, until), { messages } = v.numbers;
  frame(v, "edge", left, v.top + 4, right - left, v.height - 8);
  for (const edge of [left, right]) if (edge <= v.line) line(v, "edge", edge, 0, edge, v.top, [3, 3]);
  const end = Math.min(right, v.line);
  if (end - Math.max(left, 0) > 64) write(v, t("lab.count-of", { count, messages }), end - 6, v.top + v.height / 2, { color: "text", align: "right", isBold: count >= messages });
}

/** @param {View} v @param {boolean} isCut */
function drawBoxes(v, isCut) {
  const first = Math.max(0, firstShown(v) - 1);
  /** @type {Box | null} */
  let box = null;
  for (let i = first; i <= v.last; i++) {
    const next = boxAt(v, i);
    if (Number.isNaN(next.from)) continue;
    if (box && next.from !== box.from) drawBox(v, box);
    const until = Math.min(v.entries[i + 1]?.at ?? v.now, next.until, v.now);
    area(v, next, v.entries[i].at, until, next.count);
    box = next;
  }
  if (box) drawBox(v, box);
  if (isCut) drawEmpty(v, first);
}

// drawEmpty draws the clock's windows without a message.
/** @param {View} v @param {number} first */
function drawEmpty(v, first) {
  const used = new Set();
  for (let i = first; i <= v.last; i++) used.add(boxAt(v, i).from);
  for (let box = byClock(v, v.from); box.from < v.now; box = byClock(v, box.until)) if (!used.has(box.from)) drawBox(v, box);
}

/** @param {boolean} isCut @param {TextKey} open @param {TextKey} closed @returns {Drawing<Box>} */
const windows = (isCut, open, closed) => ({
  at: (v) => present(v, isCut),
  words: ({ isOpen, count, until }, { now, numbers: { messages } }) => (isOpen ? t(open, { count, messages, time: spanText(until - now) }) : t(closed, { count, messages })),
  wait: ({ count, until }, v) => (count < v.numbers.messages ? 0 : until - v.now),
  draw: (v, { count }) => {
    clip(v, () => drawBoxes(v, isCut));
    const { messages } = v.numbers;
    cells(v, "accent", count, messages, gauge(v));
    excess(v);
  },
});

export const fixedWindow = windows(true, "lab.clock-window", "lab.clock-window");
export const dailyWindow = windows(false, "lab.day", "lab.day-unused");
export const userWindow = windows(false, "lab.own-window", "lab.own-window-unused");
