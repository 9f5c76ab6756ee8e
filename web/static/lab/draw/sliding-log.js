// @ts-check
// A sliding log, exact: a bracket that slides over the messages. Each message counts until the
// bracket has left it behind.

import { t } from "../../text/text.js";
import { spanText } from "../clock.js";
import { bracket } from "./excess.js";
import { cells, clip, counter, fill, gauge, line, pictureAt, write, x } from "./view.js";
/** @import { Drawing, Moment } from "./view.js" */

/** @typedef {{times: number, oldest: number}} Log oldest is a lab time */

// logAt returns what counts now: the messages that counted at the last entry, except those that
// have left the log since.
/** @param {Moment} v @returns {Log} */
function logAt(v) {
  const edge = v.now - v.numbers.every;
  let { times = 0, oldest = NaN } = v.last < 0 ? {} : pictureAt(v, v.last);
  oldest -= v.start;
  if (times === 0 || oldest > edge) return { times, oldest };
  const counts = counter(v);
  let left = 0;
  for (let i = v.last; i >= 0 && v.entries[i].at > edge; i--) {
    if (!counts(v.entries[i])) continue;
    left++;
    oldest = v.entries[i].at;
  }
  return { times: Math.min(times, left), oldest };
}

/** @type {Drawing<Log>} */
export const slidingLog = {
  at: logAt,
  words: ({ times, oldest }, { now, numbers: { messages, every } }) => (times > 0 ? t("lab.log", { count: times, messages, time: spanText(oldest + every - now) }) : t("lab.count-of", { count: times, messages })),
  wait: ({ times, oldest }, { now, numbers: { messages, every } }) => (times < messages ? 0 : oldest + every - now),
  draw: (v, { times }) => {
    const { messages, every } = v.numbers, left = x(v, v.now - every), middle = v.top + v.height / 2;
    const isCounted = counter(v);
    clip(v, () => {
      fill(v, "accent", Math.max(0, left), v.top + 4, v.line - Math.max(0, left), v.height - 8, 0.1 + 0.2 * Math.min(1, times / messages));
      bracket(v, v.now - every);
      line(v, "accent", left, v.top, left, v.top + v.height - 4);
      for (let i = v.last; i >= 0 && v.entries[i].at > v.from; i--) {
        if (!isCounted(v.entries[i])) continue;
        const counts = v.entries[i].at > v.now - every, at = x(v, v.entries[i].at);
        line(v, counts ? "accent" : "hairline", at, v.top + v.height / 2 + 6, at, v.top + v.height - 4);
      }
      if (v.line - Math.max(0, left, x(v, 0)) > 64) write(v, t("lab.count-of", { count: times, messages }), v.line - 6, middle - 4, { color: "text", align: "right", isBold: times >= messages });
    });
    cells(v, "accent", times, messages, gauge(v));
  },
};
