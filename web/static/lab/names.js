// @ts-check
// A message of a lane in words: "At 12.4 s, throttled by burst, passes in 2.6 s".

import { spanText } from "./clock.js";
/** @import { Entry } from "./tape.js" */

/** @param {number} ms */
const timeText = (ms) => (ms < 60_000 ? `${(Math.round(ms / 100) / 10).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${(Math.floor((ms % 60_000) / 100) / 10).toFixed(1)} s`);

// nameOf names an entry as it is at a lab time.
/** @param {Entry} entry @param {number} now */
export function nameOf({ at, leaves, mark, limit, retry }, now) {
  const when = `At ${timeText(at)}`;
  if (mark === "throttled") return `${when}, throttled by ${limit}, ${Number.isFinite(retry) ? `passes in ${spanText(retry)}` : "never passes"}`;
  if (leaves > now) return `${when}, waits, leaves in ${spanText(leaves - now)}`;
  if (leaves > at) return `${when}, passed after ${spanText(leaves - at)} in the queue`;
  return mark === "low" ? `${when}, passes at low priority` : `${when}, passes`;
}
