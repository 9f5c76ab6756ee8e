// @ts-check
// Requests that change something, and what became of them.

import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";

/**
 * Outcome is what became of a request. body is null if it failed.
 * @typedef {{body: any, problem: string, status?: number}} Outcome
 */

// sent sends a request and returns its outcome.
/** @param {string} method @param {string} path @param {object} [body] @param {string} [ifMatch] @returns {Promise<Outcome>} */
export async function sent(method, path, body, ifMatch) {
  try {
    const answer = await request(method, path, { body, ifMatch });
    return { body: answer.body ?? {}, problem: "" };
  } catch (problem) {
    return { body: null, problem: ifSignedOut(problem) ? "" : problem.message, status: problem.status };
  }
}
