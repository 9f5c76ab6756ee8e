// @ts-check
// Requests to chatguard. Addresses are relative to the page, so that the page can be served
// under any path.

import { t } from "../../text/text.js";

/** @typedef {NonNullable<Api.Problem["mistake"]>} Mistake */

// Problem is a failed request; its message is for people.
export class Problem extends Error {
  /** @param {number} status @param {string} detail @param {Partial<Api.Problem>} [of] */
  constructor(status, detail, { mounted = false, mistake, silenced, unconfirmed = status === 0 } = {}) {
    super(detail);
    this.status = status; // 0 if there was no answer
    this.mounted = mounted; // the dashboard is part of another site, where people sign in
    this.isUnknown = unconfirmed; // a change may have been made although it failed
    this.silenced = silenced; // the timeout or ban in force, if the change doesn’t fit it
    this.mistake = mistake; // the value that was refused, if it is known
  }
}

// retryWithin is the longest Retry-After, in seconds, that makes request send a request again.
const retryWithin = 5;

// request returns {body, etag}; body is null if the answer is empty. It throws the signal's reason
// if the signal aborts it. If chatguard is briefly too busy, the request is sent again once.
/**
 * @param {string} method
 * @param {string} path
 * @param {{body?: unknown, ifMatch?: string, signal?: AbortSignal}} [of]
 */
export async function request(method, path, { body, ifMatch, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (ifMatch) headers["If-Match"] = ifMatch;
  const send = () => fetch("api/v1" + path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  let answer;
  try {
    answer = await send();
    const wait = Number(answer.headers.get("Retry-After"));
    if (answer.status === 429 && wait > 0 && wait <= retryWithin) {
      await pause(1000 * wait, signal);
      answer = await send();
    }
  } catch {
    signal?.throwIfAborted();
    throw new Problem(0, t("widgets.no-answer"));
  }
  const content = await answer.json().catch(() => /** @type {any} */ (null));
  if (!answer.ok) throw new Problem(answer.status, content?.detail ?? t("widgets.failed-answer", { status: String(answer.status) }), content ?? { unconfirmed: answer.status >= 500 }); // a proxy's answer says nothing of chatguard's
  return { body: content, etag: answer.headers.get("ETag") };
}

// pause waits; it throws as soon as the signal aborts.
/** @param {number} ms @param {AbortSignal | undefined} signal @returns {Promise<void>} */
const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });

// liveAddress returns the address of a channel's live feed. If after is 0, the feed starts with
// a snapshot. Otherwise the named feed continues after the frame with that number.
/** @param {string} channel @param {string} feed @param {number} after */
export function liveAddress(channel, feed, after) {
  const address = new URL("api/v1/live", document.baseURI);
  address.protocol = address.protocol.replace("http", "ws");
  address.searchParams.set("channel", channel);
  if (after > 0) {
    address.searchParams.set("feed", feed);
    address.searchParams.set("after", String(after));
  }
  return address;
}
