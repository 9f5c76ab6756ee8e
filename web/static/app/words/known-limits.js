// @ts-check
// Limits known from other services and chats, to start from. The numbers are as published; the
// algorithm behind them is our assumption.

import { t } from "../../text/text.js";
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
    get name() { return t("rules.known-chat"); },
    get pros() { return t("rules.known-chat-pros"); },
    get cons() { return t("rules.known-chat-cons"); },
    limits: [{ name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" }],
  },
  {
    id: "github",
    get name() { return t("rules.known-github"); },
    get pros() { return t("rules.known-github-pros"); },
    get cons() { return t("rules.known-github-cons"); },
    limits: [{ name: "hourly", algorithm: "fixed-window", messages: 5000, every: "1h" }],
  },
  {
    id: "stripe",
    get name() { return t("rules.known-stripe"); },
    get pros() { return t("rules.known-stripe-pros"); },
    get cons() { return t("rules.known-stripe-cons"); },
    limits: [{ name: "burst", algorithm: "token-bucket", burst: 500, refill: "10ms" }],
  },
  {
    id: "openai",
    get name() { return t("rules.known-openai"); },
    get pros() { return t("rules.known-openai-pros"); },
    get cons() { return t("rules.known-openai-cons"); },
    limits: [{ name: "requests", algorithm: "token-bucket", burst: 200, refill: "7m12s" }],
  },
  {
    id: "rapidity",
    get name() { return t("rules.known-rapidity"); },
    get pros() { return t("rules.known-rapidity-pros"); },
    get cons() { return t("rules.known-rapidity-cons"); },
    limits: [userWindow("minute", 300, "1m"), userWindow("hour", 15_750, "1h"), userWindow("day", 300_000, "24h"), userWindow("week", 1_500_000, "168h"), userWindow("month", 6_000_000, "720h")],
  },
];

// bytesPerUser returns the memory that the state of one user takes in all limits, in bytes.
/** @param {{limits: Api.Limit[]}} of */
export const bytesPerUser = ({ limits }) => limits.reduce((sum, limit) => sum + bytesOf(limit), 0);
