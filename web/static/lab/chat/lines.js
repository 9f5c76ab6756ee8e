// @ts-check
// The lines of a chat at a lab time, and who wrote how many of them in the last minute.

/** @import { Entry } from "../tape.js" */

/** @typedef {{at: number, user: string, sent: number, text: string}} Line at is when it appears, sent when it was written, ms */

/** @typedef {{user: string, count: number, part: number}} Share part is from 0 to 1 */

export const mostLines = 50; // that a chat keeps

const minute = 60_000; // ms

// linesOf returns the lines of a chat without limits, and of one whose limits made the entries.
/** @param {Entry[]} entries @returns {{free: Line[], limited: Line[]}} */
export function linesOf(entries) {
  const free = entries.map(({ at, user, text }) => ({ at, user, sent: at, text }));
  const limited = entries.filter(({ mark }) => mark !== "throttled").map(({ at, leaves, user, text }) => ({ at: leaves, user, sent: at, text }));
  return { free, limited: limited.sort((a, b) => a.at - b.at) };
}

// countBy returns how many lines have appeared by a lab time.
/** @param {Line[]} lines @param {number} now */
export function countBy(lines, now) {
  let low = 0, high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].at <= now) low = middle + 1;
    else high = middle;
  }
  return low;
}

// lastLines returns the newest lines at a lab time, the oldest of them first.
/** @param {Line[]} lines @param {number} now */
export function lastLines(lines, now) {
  const count = countBy(lines, now);
  return lines.slice(Math.max(0, count - mostLines), count);
}

// sharesOf returns each user's share of the lines of the last minute, the largest first.
/** @param {Line[]} lines @param {number} now @returns {Share[]} */
export function sharesOf(lines, now) {
  const recent = lines.slice(countBy(lines, now - minute), countBy(lines, now));
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { user } of recent) counts.set(user, (counts.get(user) ?? 0) + 1);
  return [...counts].map(([user, count]) => ({ user, count, part: count / recent.length })).sort((a, b) => b.count - a.count || (a.user < b.user ? -1 : 1));
}
