// @ts-check
// A message of a lane in words: "At 12.4 s, throttled by burst, passes in 2.6 s".

import { spanText } from "./clock.js";
/** @import { Entry } from "./tape.js" */

// timeText writes a lab time: "12.4 s", "1 min 12.4 s", "10 h 2 min 12.4 s".
/** @param {number} ms */
export function timeText(ms) {
  const tenths = Math.floor(ms / 100 + 1e-6), minutes = Math.floor(tenths / 600), hours = Math.floor(minutes / 60);
  return (hours > 0 ? `${hours} h ` : "") + (minutes > 0 ? `${minutes % 60} min ` : "") + `${((tenths % 600) / 10).toFixed(1)} s`;
}

// fateOf says what becomes of an entry, as it is known at a lab time.
/** @param {Entry} entry @param {number} now */
export function fateOf({ at, leaves, mark, limit, retry }, now) {
  if (mark === "throttled") return `throttled by ${limit}, ${Number.isFinite(retry) ? `passes in ${spanText(retry)}` : "never passes"}`;
  if (leaves > now) return `waits, leaves in ${spanText(leaves - now)}`;
  if (leaves > at) return `passed after ${spanText(leaves - at)} in the queue`;
  return mark === "low" ? "passes at low priority" : "passes";
}

// nameOf names an entry as it is at a lab time.
/** @param {Entry} entry @param {number} now */
export const nameOf = (entry, now) => `At ${timeText(entry.at)}, ${fateOf(entry, now)}`;
