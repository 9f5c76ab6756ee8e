// @ts-check
// A leaky bucket: a queue that drips. Messages leave one by one, evenly spaced.

import { t } from "../../text/text.js";
import { spanText } from "../clock.js";
import { clip, fill, frame, gauge, line, write, x } from "./view.js";
/** @import { Drawing, Moment, View } from "./view.js" */

/** @typedef {{waiting: number, next: number, last: number}} Queue next and last are lab times */

// queueAt returns how many messages wait, when the next one leaves, and when the last message left
// or will leave.
/** @param {Moment} v @returns {Queue} */
function queueAt({ entries, last, now }) {
  let waiting = 0, next = NaN, latest = -Infinity;
  for (let i = last; i >= 0; i--) {
    const { leaves, mark } = entries[i];
    if (mark === "throttled") continue;
    latest = Math.max(latest, leaves);
    if (leaves <= now) break;
    waiting++;
    next = leaves;
  }
  return { waiting, next, last: latest };
}

// paths draws a line from arrival to departure for each message that was held, and a drop for each
// that has left.
/** @param {View} v */
function paths(v) {
  const { queue } = v.numbers, bottom = v.top + v.height - 6, pitch = (v.height - 14) / Math.max(1, Math.min(queue, 8));
  for (let i = v.last; i >= 0 && v.entries[i].at > v.from - 3_600_000; i--) {
    const { at, leaves, mark } = v.entries[i];
    if (mark === "throttled" || leaves < v.from) continue;
    if (leaves > at) {
      const place = Math.min(8, Math.max(1, Math.round((leaves - at) / v.numbers.every + 0.49)));
      const y = Math.max(v.top + 4, bottom - place * pitch);
      line(v, "accent", x(v, at), y, x(v, Math.min(leaves, v.now)), y);
      if (leaves <= v.now) line(v, "accent", x(v, leaves), y, x(v, leaves), bottom);
    }
    if (leaves <= v.now) fill(v, "accent", x(v, leaves) - 1.5, bottom - 1, 3, 4);
  }
  line(v, "hairline", Math.max(0, x(v, 0)), bottom + 3.5, v.line, bottom + 3.5);
}

/** @type {Drawing<Queue>} */
export const leakyBucket = {
  at: queueAt,
  words: ({ waiting, next, last }, { now, numbers: { every } }) =>
    waiting > 0 ? t("lab.queue", { n: waiting, time: spanText(next - now) })
      : last + every > now ? t("lab.queue-empty-next", { time: spanText(last + every - now) })
      : t("lab.queue-empty"),
  wait: ({ waiting, next, last }, { now, numbers: { queue, every } }) =>
    waiting < queue ? 0 : Math.max(0, (queue === 0 ? last + every : next) - now),
  draw: (v, { waiting }) => {
    clip(v, () => paths(v));
    const { left, width, top, height } = gauge(v), { queue } = v.numbers;
    const shown = Math.min(queue, 6), pitch = Math.min(14, (width - 14) / Math.max(1, shown));
    for (let i = 0; i < shown; i++) {
      const at = left + 14 + i * pitch;
      if (i < waiting) fill(v, "accent", at + 1, top + 5, pitch - 4, height - 10);
      frame(v, "edge", at, top + 4, pitch - 2, height - 8);
    }
    write(v, "←", left, top + height / 2, { color: "accent" });
  },
};
