// @ts-check
// The engine: the only module of the Lab that asks the server. The server keeps nothing, so each
// question has all messages of the scene.

import { loadAlgorithms } from "../app/core/algorithms.js";
import { request } from "../app/core/api.js";
/** @import { Limit } from "./state.js" */

/**
 * @typedef {object} Message
 * @property {number} at Unix ms
 * @property {string} user_id
 * @property {string} [login]
 * @property {string[]} [roles]
 * @property {number} [cost]
 * @property {string} [text]
 * @property {string} [print] identifies the text, if that is unknown
 * @property {boolean} [emotes] it consists of emotes only
 */

/**
 * @typedef {object} Question
 * @property {{limits: Limit[], grants?: {at: number, user_id: string, messages: number}[]}[]} lanes at is in Unix ms
 * @property {string} [timezone]
 * @property {Message[]} [messages]
 * @property {Record<string, unknown>} [traffic]
 * @property {{at: number, timezone: string}} [move] at is in Unix ms
 * @property {boolean} [accuracy] how exact is the sliding window of the first lane?
 * @property {string} [edge] how many can pass in any stretch of this length?
 * @property {boolean} [no_steps] the answer has figures only
 */

/**
 * Picture is the state of a limit in the terms of its algorithm. Times are in Unix ms.
 * @typedef {object} Picture
 * @property {number} [tokens]
 * @property {number} [extra_tokens]
 * @property {number} [from]
 * @property {number} [until]
 * @property {number} [count]
 * @property {number} [previous]
 * @property {number} [current]
 * @property {number} [weight]
 * @property {number} [estimate]
 * @property {number[]} [slices] the current one first
 * @property {number} [waiting]
 * @property {number[]} [leaves]
 * @property {number} [times]
 * @property {number} [oldest]
 * @property {number} [granted] extra messages that are left
 * @property {number} [text_number] of a limit on repeated text: the same for messages with the same
 *   text, as this limit compares them
 */

/**
 * Step is the verdict on a message, in the order of the messages.
 * @typedef {object} Step
 * @property {boolean} allowed
 * @property {string} [limit]
 * @property {string} [priority]
 * @property {number | null} [retry_after_ms] null if waiting never helps
 * @property {number} [delay_ms]
 * @property {Picture} [picture] of a lane with one limit
 * @property {(Picture | null)[]} [pictures] of a lane with several; null in a limit on repeated
 *   text that doesn't count the message
 */

/**
 * Pushed is what an eager sender got through.
 * @typedef {object} Pushed
 * @property {number[]} per_second
 * @property {number[]} per_tenth
 * @property {number} last_at_ns
 * @property {number} most_in_a_second
 * @property {number} most_in_a_tenth
 */

/**
 * Accuracy compares a sliding window with the exact log of the same numbers.
 * @typedef {object} Accuracy
 * @property {number} messages
 * @property {{wrong: number, wrong_percent: number, mean_off_percent: number}} counted if each message counts, whatever is decided
 * @property {{window_throttled: number, log_throttled: number, most_let_pass_in_any_window: number}} side_by_side
 */

/** @typedef {{name?: string, bytes_per_user: number, steps?: Step[], grants?: {until: (number | null)[]}[], push?: Pushed, edge?: number}} LaneAnswer */

/** @typedef {{messages?: Message[], lanes: LaneAnswer[], accuracy?: Accuracy}} Answer */

export const mostMessages = 20_000; // that the server judges at once

// The server limits how often an address may ask. The page waits before it asks too often, because
// a refused question costs more time.
const atOnce = 16, oneMore = 110; // questions, ms

let left = atOnce, asked = 0;

// turn waits until the next question may be asked.
async function turn() {
  const now = performance.now();
  left = Math.min(atOnce, left + (now - asked) / oneMore) - 1;
  asked = now;
  if (left < 0) await new Promise((resolve) => setTimeout(resolve, -left * oneMore));
}

/** @param {Question} question @returns {Promise<Answer>} */
export async function judge(question) {
  await turn();
  return (await request("POST", "/lab", { body: question })).body;
}

// loadTable loads the engine's table of algorithms.
export const loadTable = loadAlgorithms;

// loadSite returns whether the Lab belongs to a dashboard, and the channels with recorded traffic.
/** @returns {Promise<Api.getLab>} */
export async function loadSite() {
  await turn();
  return (await request("GET", "/lab")).body;
}

// createQueue returns a function that asks a question as soon as the previous one is answered. Of
// several pending questions, only the newest is asked.
/**
 * @template Q, A
 * @param {(question: Q) => Promise<A>} answer
 * @param {(question: Q, answer: A) => void} answered
 * @param {(question: Q, problem: Error) => void} failed
 */
export function createQueue(answer, answered, failed) {
  /** @type {{question: Q} | null} */
  let next = null;
  let isBusy = false;
  return async (/** @type {Q} */ question) => {
    next = { question };
    if (isBusy) return;
    isBusy = true;
    while (next) {
      const { question: asked } = next;
      next = null;
      try {
        answered(asked, await answer(asked));
      } catch (problem) {
        failed(asked, problem);
      }
    }
    isBusy = false;
  };
}
