// @ts-check
// Webhooks and the requests about them.

import { table } from "../../text/text.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";

/** @typedef {Api.getWebhooks["webhooks"][number]} Webhook */
/** @typedef {Api.getWebhooksDeliveries["dead"][number]} Delivery */

/**
 * Outcome is what became of a request. body is null if it failed.
 * @typedef {{body: any, problem: string}} Outcome
 */

// eventNames has the events that a webhook can receive.
/** @type {Record<string, string>} */
export const eventNames = table({
  raid: "webhooks.event-raid", pause: "webhooks.event-pause", failure: "webhooks.event-failure", limits: "webhooks.event-limits", ban: "webhooks.event-ban", summary: "webhooks.event-summary",
});

/** @type {Record<string, string>} */
export const formatNames = table({ discord: "webhooks.format-discord", signed: "webhooks.format-signed" });

// pathOf returns the address of a webhook in the API.
/** @param {Webhook} hook */
export const pathOf = ({ id }) => `/webhooks/${encodeURIComponent(id)}`;

// sent sends a request.
/** @param {string} method @param {string} path @param {object} [body] @returns {Promise<Outcome>} */
export async function sent(method, path, body) {
  try {
    const answer = await request(method, path, { body });
    return { body: answer.body ?? {}, problem: "" };
  } catch (problem) {
    return { body: null, problem: ifSignedOut(problem) ? "" : problem.message };
  }
}
