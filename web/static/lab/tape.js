// @ts-check
// The tape: what the engine decided about the messages of a scene, lane by lane, in lab time.

/** @import { Answer, Message, Picture, Step } from "./engine.js" */
/** @import { Gift } from "./state.js" */

/** @typedef {"passes" | "low" | "throttled"} Mark */

/**
 * Entry is a message in a lane.
 * @typedef {object} Entry
 * @property {number} at lab time, ms
 * @property {number} leaves when it passes: at, or later if it waits in a queue; Infinity if
 *   throttled
 * @property {Mark} mark
 * @property {string} limit the name of the limit that throttles it, or empty
 * @property {number} retry ms after which it would pass, if throttled; Infinity if waiting never
 *   helps
 * @property {string} user the ID of who sent it
 * @property {string} name of who sent it
 * @property {string} text empty if it isn't known
 * @property {(Picture | null)[]} pictures of each limit of the lane, right after the decision; null
 *   in one on repeated text that doesn't count the message
 */

/**
 * Grant is a number of extra messages. until are the lab times at which they lapse, for each limit
 * of the lane; it is -Infinity in a limit that everybody shares.
 * @typedef {Gift & {until: number[]}} Grant
 */

/**
 * Strip is the part of a tape that belongs to a lane.
 * @typedef {{entries: Entry[], grants: Grant[], bytes: number, hasUsers: boolean}} Strip hasUsers: several wrote
 */

/** @typedef {Map<number, Strip>} Tape by the lane's ID */

export const byHand = "anna"; // the user who sends by hand; also the only one of some traffic

/** @type {Strip} */
export const emptyStrip = { entries: [], grants: [], bytes: 0, hasUsers: false };

// stripOf returns the strip of a lane from an answer. start is the time of day at lab time 0, and
// asked are the lane's grants.
/** @param {Message[]} messages @param {Answer["lanes"][number]} lane @param {number} start @param {Gift[]} [asked] @returns {Strip} */
export function stripOf(messages, { bytes_per_user: bytes, steps = [], grants = [] }, start, asked = []) {
  const entries = steps.map((step, i) => entryOf(step, messages[i], start));
  const granted = grants.map(({ until }, i) => ({ ...asked[i], until: until.map((at) => (at === null ? -Infinity : at - start)) }));
  return { bytes, entries, grants: granted, hasUsers: entries.some(({ user }) => user !== entries[0].user) };
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
    text: message.text ?? "",
    pictures: pictures ?? [picture ?? null],
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

// shownUser returns the user whose state a lane shows: who wrote last, or who sends by hand.
/** @param {Entry[]} entries @param {number} last */
export const shownUser = (entries, last) => entries[last]?.user ?? byHand;

// extraOf returns how many granted messages the user whose state is shown has left in a limit of a
// lane, and whether some of them came after the user's last message.
/** @param {Strip} strip @param {number} index of the limit @param {number} now @returns {{extra: number, isNew: boolean}} */
export function extraOf({ entries, grants }, index, now) {
  const last = lastBy(entries, now), user = shownUser(entries, last);
  const had = grants.filter((one) => one.user === user && one.at <= now && one.until[index] > now);
  const since = had.filter(({ at }) => at > (entries[last]?.at ?? -Infinity));
  /** @param {Grant[]} list */
  const sum = (list) => list.reduce((all, { messages }) => all + messages, 0);
  return { extra: Math.min(sum(had), (entries[last]?.pictures[index]?.granted ?? 0) + sum(since)), isNew: since.length > 0 };
}

// nextAfter returns the lab time of the next thing that happens in any lane after a time: a message
// comes or leaves, or a grant is made. It is Infinity if nothing does.
/** @param {Tape} tape @param {number} time */
export function nextAfter(tape, time) {
  let next = Infinity;
  for (const { entries, grants } of tape.values()) {
    next = Math.min(next, grants.find(({ at }) => at > time)?.at ?? Infinity);
    const last = lastBy(entries, time);
    next = Math.min(next, entries[last + 1]?.at ?? Infinity);
    for (let i = last; i >= 0 && i > last - 64; i--) {
      if (entries[i].leaves > time) next = Math.min(next, entries[i].leaves);
    }
  }
  return next;
}
