// @ts-check
// Asks chatguard for what the overlay shows, once per second, and less often while there is no
// answer.

const period = 1000, longestPause = 15_000, refusedPause = 60_000; // ms
const timeout = 5000; // ms: how long an answer may take

/** @typedef {"no-token" | "revoked" | "forbidden" | "no-channel"} Refusal */

/**
 * State is what is known.
 * @typedef {object} State
 * @property {Api.getOverlay | null} shown the last answer; null if it is too old
 * @property {string | null} etag
 * @property {number} ahead how much chatguard's clock is ahead of this one, ms
 * @property {number} failures how many requests in a row had no answer
 * @property {Refusal | null} refusal why chatguard answers nothing else
 */

/** @returns {State} */
export const newState = () => ({ shown: null, etag: null, ahead: 0, failures: 0, refusal: null });

/**
 * Answer is what came back. Without any answer, the status is 0.
 * @typedef {{status: number, body?: Api.getOverlay, etag?: string | null, now?: number, retryAfter?: number}} Answer
 */

/** @type {Record<number, Refusal>} */
const refusals = { 401: "revoked", 403: "forbidden", 404: "no-channel" };

const mostFailures = 1; // after which the last answer is still shown
const failuresOfDot = 4; // after some seconds

// next returns the state after an answer, and how long to wait before the next request.
/** @param {State} state @param {Answer} answer @param {boolean} hasToken @returns {{state: State, pause: number}} */
export function next(state, answer, hasToken) {
  const { status, body, etag = null, now } = answer;
  if (status === 200) {
    return { state: { shown: body, etag, ahead: now ? now - Date.now() : 0, failures: 0, refusal: null }, pause: period };
  }
  if (status === 304) return { state: { ...state, failures: 0, refusal: null }, pause: period };
  const refusal = refusals[status];
  if (refusal) return { state: { ...newState(), refusal: refusal === "revoked" && !hasToken ? "no-token" : refusal }, pause: refusedPause };
  const failures = state.failures + 1, isOld = failures > mostFailures;
  const pause = Math.max(Math.min(period * 2 ** (failures - 1), longestPause), 1000 * (answer.retryAfter ?? 0));
  return { state: { ...state, shown: isOld ? null : state.shown, etag: isOld ? null : state.etag, failures, refusal: null }, pause };
}

// isAway reports whether chatguard has been away for some seconds.
/** @param {State} state */
export const isAway = ({ failures }) => failures >= failuresOfDot;

// ask asks for what is shown of a channel. Without a token, the session of the browser counts.
/** @param {string} channel @param {string} token @param {string | null} etag @returns {Promise<Answer>} */
export async function ask(channel, token, etag) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (etag) headers["If-None-Match"] = etag;
  try {
    const answer = await fetch(`api/v1/overlay${channel && `?channel=${encodeURIComponent(channel)}`}`, { headers, cache: "no-store", signal: AbortSignal.timeout(timeout) });
    const body = answer.status === 200 ? await answer.json() : undefined;
    return {
      status: answer.status, body, etag: answer.headers.get("ETag"), now: Date.parse(answer.headers.get("Date")) || undefined,
      retryAfter: Number(answer.headers.get("Retry-After")) || 0,
    };
  } catch {
    return { status: 0 };
  }
}
