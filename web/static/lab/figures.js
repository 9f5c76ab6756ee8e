// @ts-check
// The figures of a lane up to the time that is shown: what passed, what was throttled, and how much
// came at once. They count what the engine decided.

/** @import { Entry } from "./tape.js" */

/**
 * @typedef {object} Figures
 * @property {number} allowed
 * @property {number} low of these, at low priority
 * @property {number} throttled
 * @property {number} mostInSecond the most that passed in any stretch of a second
 * @property {number} mostInMinute
 * @property {number} longestWait the longest time after which a throttled message would pass, ms
 * @property {number} longestDelay the longest time that a message was held in a queue, ms
 * @property {number} longestSilence the longest time without a message that passed, ms: between two
 *   of them, or from the last one until the time that is shown
 * @property {Map<number, Copies>[]} copies by index of the limit, and by Picture.text_number
 */

/** @typedef {{text: string, passed: number, throttled: number}} Copies of one text, which is that of the first of them */

const second = 1000, minute = 60_000; // ms

// createTally returns a function that counts the entries of a lane up to a time. A call with a
// later time continues where the previous call ended; an earlier time starts again.
/** @param {Entry[]} entries */
export function createTally(entries) {
  /** @type {Figures} */
  let figures = none();
  let counted = 0, now = 0;
  /** @type {number[]} */
  let passed = []; // lab times, ms
  let inSecond = 0, inMinute = 0; // index of the first in the stretch that ends now
  // listen counts the silence since the last message that passed.
  /** @param {number} at */
  const listen = (at) => {
    if (passed.length > 0) figures.longestSilence = Math.max(figures.longestSilence, at - passed.at(-1));
  };
  /** @param {number} at */
  const pass = (at) => {
    listen(at);
    passed.push(at);
    while (passed[inSecond] <= at - second) inSecond++;
    while (passed[inMinute] <= at - minute) inMinute++;
    figures.mostInSecond = Math.max(figures.mostInSecond, passed.length - inSecond);
    figures.mostInMinute = Math.max(figures.mostInMinute, passed.length - inMinute);
  };
  return (/** @type {number} */ time) => {
    if (time < now) {
      figures = none();
      passed = [];
      counted = inSecond = inMinute = 0;
    }
    now = time;
    for (; counted < entries.length && entries[counted].at <= time; counted++) {
      const { at, leaves, mark, retry } = entries[counted];
      countCopy(figures.copies, entries[counted]);
      if (mark === "throttled") {
        figures.throttled++;
        if (Number.isFinite(retry)) figures.longestWait = Math.max(figures.longestWait, retry);
        continue;
      }
      figures.allowed++;
      if (mark === "low") figures.low++;
      figures.longestDelay = Math.max(figures.longestDelay, leaves - at);
      pass(leaves);
    }
    listen(time);
    return figures;
  };
}

/** @param {Figures["copies"]} copies @param {Entry} entry */
function countCopy(copies, { pictures, text, mark }) {
  pictures.forEach((picture, index) => {
    const number = picture?.text_number;
    if (!number) return;
    copies[index] ??= new Map();
    if (!copies[index].has(number)) copies[index].set(number, { text, passed: 0, throttled: 0 });
    copies[index].get(number)[mark === "throttled" ? "throttled" : "passed"]++;
  });
}

// mostCopied returns the texts with the most copies in a limit, at most n, with two or more of
// each. It adds up what different users wrote, also if the limit counts each user's copies apart.
// Unknown texts are left out.
/** @param {Figures} figures @param {number} index of the limit @param {number} n */
export function mostCopied({ copies }, index, n) {
  /** @type {Map<string, Copies>} */
  const texts = new Map();
  for (const { text, passed, throttled } of copies[index]?.values() ?? []) {
    const others = texts.get(text);
    if (text) texts.set(text, { text, passed: passed + (others?.passed ?? 0), throttled: throttled + (others?.throttled ?? 0) });
  }
  return [...texts.values()].filter(({ passed, throttled }) => passed + throttled > 1).sort((a, b) => b.passed + b.throttled - a.passed - a.throttled).slice(0, n);
}

/** @returns {Figures} */
const none = () => ({ copies: [], allowed: 0, low: 0, throttled: 0, mostInSecond: 0, mostInMinute: 0, longestWait: 0, longestDelay: 0, longestSilence: 0 });
