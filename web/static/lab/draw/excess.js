// @ts-check
// The bracket over the marks: a stretch of time that ends now.

import { t } from "../../text/text.js";
import { spanText } from "../clock.js";
import { clip, counter, line, write, x } from "./view.js";
/** @import { View } from "./view.js" */

// bracket draws the stretch from a lab time until now.
/** @param {View} v @param {number} from @param {string} [color] */
export function bracket(v, from, color = "accent") {
  const left = x(v, from), bottom = v.top - 1;
  line(v, color, left, 3, left, bottom);
  line(v, color, left, 3, left + 5, 3);
  line(v, color, left, bottom, left + 5, bottom);
}

// passedSince returns how many of the messages that count have passed after a lab time.
/** @param {Pick<View, "entries" | "last" | "index" | "per">} v @param {number} from */
export function passedSince(v, from) {
  const counts = counter(v);
  let passed = 0;
  for (let i = v.last; i >= 0 && v.entries[i].at > from; i--) if (counts(v.entries[i])) passed++;
  return passed;
}

// excess shows the bracket if more messages have passed within the limit's period than the limit
// allows. That is possible where a window ends and the next begins.
/** @param {View} v */
export function excess(v) {
  const { messages, every } = v.numbers;
  if (!every) return;
  const from = v.now - every, passed = passedSince(v, from);
  if (passed <= messages) return;
  clip(v, () => {
    bracket(v, from, "throttled");
    write(v, t("lab.excess", { n: passed, time: spanText(every), messages }), Math.max(0, x(v, from)) + 8, 10, { color: "warn", isBold: true });
  });
}
