// @ts-check
// Limits that are known from elsewhere, to start from. Numbers are as published; which algorithm
// stands behind them is our assumption.

import { bytesOf } from "./algorithms.js";

/**
 * KnownLimit has limits that belong together.
 * @typedef {object} KnownLimit
 * @property {string} id
 * @property {string} name
 * @property {string} pros in a sentence, likewise cons
 * @property {string} cons
 * @property {Api.Limit[]} limits
 */

/** @param {string} name @param {number} messages @param {string} every @returns {Api.Limit} */
const userWindow = (name, messages, every) => ({ name, algorithm: "user-window", messages, every });

/** @type {KnownLimit[]} */
export const knownLimits = [
  {
    id: "chat",
    name: "Chat: 3 at once, one per 4 s",
    pros: "A quick exchange passes, and a flood stops at the fourth message.",
    cons: "Someone with five short thoughts in a row has to wait.",
    limits: [{ name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" }],
  },
  {
    id: "github",
    name: "GitHub: 5,000 per hour",
    pros: "Easy to explain: everything is back on the hour.",
    cons: "Up to 10,000 pass around the turn of an hour, when everyone returns at once.",
    limits: [{ name: "hourly", algorithm: "fixed-window", messages: 5000, every: "1h" }],
  },
  {
    id: "stripe",
    name: "Stripe: 100 per second, 500 at once",
    pros: "A busy moment borrows from the quiet ones before it.",
    cons: "Up to 599 pass within one second after a quiet spell.",
    limits: [{ name: "burst", algorithm: "token-bucket", burst: 500, refill: "10ms" }],
  },
  {
    id: "openai",
    name: "OpenAI: 200 per day",
    pros: "One comes back every 7 min 12 s, so nobody waits for midnight.",
    cons: "Up to 399 pass within 24 hours that begin with a full allowance.",
    limits: [{ name: "requests", algorithm: "token-bucket", burst: 200, refill: "7m12s" }],
  },
  {
    id: "rapidity",
    name: "Rapidity: five windows",
    pros: "Stops short floods and slow overuse alike, and a refused message spends nothing in any window.",
    cons: "Five numbers to explain, and a full month means days of waiting.",
    limits: [userWindow("minute", 300, "1m"), userWindow("hour", 15_750, "1h"), userWindow("day", 300_000, "24h"), userWindow("week", 1_500_000, "168h"), userWindow("month", 6_000_000, "720h")],
  },
];

// bytesPerUser returns the memory that the state of one user takes in all limits, in bytes.
/** @param {{limits: Api.Limit[]}} of */
export const bytesPerUser = ({ limits }) => limits.reduce((sum, limit) => sum + bytesOf(limit), 0);
