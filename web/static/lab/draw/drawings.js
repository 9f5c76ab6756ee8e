// @ts-check
// The drawings, by algorithm.

import { dailyWindow, fixedWindow, userWindow } from "./boxes.js";
import { cascade } from "./cascade.js";
import { leakyBucket } from "./leaky-bucket.js";
import { slidingLog } from "./sliding-log.js";
import { slidingWindow } from "./sliding-window.js";
import { tokenBucket } from "./token-bucket.js";
/** @import { Drawing } from "./view.js" */

/** @type {Record<string, Drawing<any>>} */
const drawings = {
  "token-bucket": tokenBucket,
  "leaky-bucket": leakyBucket,
  "fixed-window": fixedWindow,
  "daily-window": dailyWindow,
  "user-window": userWindow,
  "sliding-window": slidingWindow,
  "sliding-log": slidingLog,
  cascade,
};

/** @type {Drawing<null>} */
const none = { at: () => null, words: () => "", wait: () => 0, draw: () => {} };

// drawingOf returns the drawing of an algorithm. One that this page doesn't know is not drawn.
/** @param {string} algorithm */
export const drawingOf = (algorithm) => drawings[algorithm] ?? none;
