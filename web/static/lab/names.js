// @ts-check
// A message of a lane in words: "At 12.4 s, throttled by burst, passes in 2.6 s".

import { t } from "../text/text.js";
import { spanText } from "./clock.js";
import { fixed } from "./numbers.js";
/** @import { Figures } from "./figures.js" */
/** @import { Entry } from "./tape.js" */

// timeText writes a lab time: "12.4 s", "1 min 12.4 s", "10 h 2 min 12.4 s".
/** @param {number} ms */
export function timeText(ms) {
  const tenths = Math.floor(ms / 100 + 1e-6), minutes = Math.floor(tenths / 600), h = Math.floor(minutes / 60);
  const min = minutes % 60, s = fixed((tenths % 600) / 10, 1);
  if (minutes === 0) return t("lab.span-s", { s });
  return h === 0 ? t("lab.span-min-s", { min, s }) : t("lab.span-h-min-s", { h, min, s });
}

// fateOf says what becomes of an entry, as known at a lab time.
/** @param {Entry} entry @param {number} now */
export function fateOf({ at, leaves, mark, limit, retry }, now) {
  if (mark === "throttled") return Number.isFinite(retry) ? t("lab.fate-throttled", { limit, time: spanText(retry) }) : t("lab.fate-never", { limit });
  if (leaves > now) return t("lab.fate-waits", { time: spanText(leaves - now) });
  if (leaves > at) return t("lab.fate-waited", { time: spanText(leaves - at) });
  return mark === "low" ? t("lab.passes-low") : t("lab.passes");
}

// nameOf names an entry as it is at a lab time.
/** @param {Entry} entry @param {number} now */
export const nameOf = (entry, now) => t("lab.mark", { time: timeText(entry.at), fate: fateOf(entry, now) });

// textWords says in a limit on repeated text what the state of the last message's text is, and what
// became of its copies.
/** @param {Entry | undefined} entry the last one @param {number} index of the limit @param {string} state @param {Figures} figures */
export function textWords(entry, index, state, { copies }) {
  if (!entry) return "";
  const picture = entry.pictures[index];
  if (!picture) return t("lab.text-not-counted");
  const counted = copies[index]?.get(picture.text_number);
  return [t("lab.text-state", { state }), counted && t("lab.copies", counted)].filter(Boolean).join(" · ");
}
