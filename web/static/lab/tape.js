// @ts-check
// The tape: what the engine decided about the messages of a scene, lane by lane, in lab time.

/** @import { Answer, Message, Picture, Step } from "./engine.js" */

/** @typedef {"passes" | "low" | "throttled"} Mark */

/**
 * Entry is a message in a lane.
 * @typedef {object} Entry
 * @property {number} at lab time, ms
 * @property {number} leaves when it passes: at, or later if it waits in a queue; Infinity if
 *   throttled
 * @property {Mark} mark
 * @property {string} limit the name of the limit that throttles it, or empty
 * @property {number} retry ms after which it would pass, if throttled; Infinity if waiting never helps
 * @property {string} user the ID of who sent it
 * @property {string} name of who sent it
 * @property {Picture[]} pictures of each limit of the lane, right after the decision
 */

/**
 * Strip is the part of a tape that belongs to a lane.
 * @typedef {{entries: Entry[], bytes: number, hasUsers: boolean}} Strip hasUsers: several wrote
 */

/** @typedef {Map<number, Strip>} Tape by the lane's ID */

/** @type {Strip} */
export const emptyStrip = { entries: [], bytes: 0, hasUsers: false };

// stripOf returns the strip of a lane from an answer. start is the time of day at lab time 0.
/** @param {Message[]} messages @param {Answer["lanes"][number]} lane @param {number} start @returns {Strip} */
export function stripOf(messages, { bytes_per_user: bytes, steps = [] }, start) {
  const entries = steps.map((step, i) => entryOf(step, messages[i], start));
  return { bytes, entries, hasUsers: entries.some(({ user }) => user !== entries[0].user) };
}

/** @param {Step} step @param {Message} message @param {number} start @returns {Entry} */
function entryOf({ allowed, priority, limit = "", retry_after_ms: retry, delay_ms: delay = 0, picture, pictures }, message, start) {
  const at = message.at - start;
  return {
    at,
    leaves: allowed ? at + delay : Infinity,
    mark: !allowed ? "throttled" : priority === "low" ? "low" : "passes",
    limit: allowed ? "" : limit,
    retry: allowed ? 0 : (retry ?? Infinity),
    user: message.user_id,
    name: message.login || message.user_id,
    pictures: pictures ?? [picture ?? {}],
  };
}

// lastBy returns the index of the last entry not after a lab time, or -1.
/** @param {Entry[]} entries @param {number} time */
export function lastBy(entries, time) {
  let low = 0, high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle].at <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

// nextAfter returns the lab time of the next thing that happens in any lane after a time: a message
// comes or leaves. It is Infinity if nothing does.
/** @param {Tape} tape @param {number} time */
export function nextAfter(tape, time) {
  let next = Infinity;
  for (const { entries } of tape.values()) {
    const last = lastBy(entries, time);
    next = Math.min(next, entries[last + 1]?.at ?? Infinity);
    for (let i = last; i >= 0 && i > last - 64; i--) {
      if (entries[i].leaves > time) next = Math.min(next, entries[i].leaves);
    }
  }
  return next;
}
