// @ts-check
// Webhooks and the requests about them.

import { table } from "../../text/text.js";

/** @typedef {Api.getWebhooks["webhooks"][number]} Webhook */
/** @typedef {Api.getWebhooksDeliveries["dead"][number]} Delivery */

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
