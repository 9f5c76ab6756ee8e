// @ts-check
// Asks chatguard about the viewer: every few seconds, as soon as they may write again, and less
// often while there is no answer.

const least = 3000, usual = 5000, longest = 60_000; // ms between two requests

/**
 * Answer is what came back. Without any answer, the status is 0.
 * @typedef {{status: number, body?: Api.getViewer, detail?: string, retryAfter?: number}} Answer
 */

/**
 * State is what is known about the viewer.
 * @typedef {object} State
 * @property {"unknown" | "in" | "out"} session
 * @property {Api.getViewer | null} standing
 * @property {number} ahead how much chatguard's clock is ahead of this one, ms
 * @property {string} detail why chatguard refuses to answer, in a sentence
 * @property {number} failures how many requests in a row had no answer
 * @property {boolean} isTooOften the last request was refused, because there were too many
 */

/** @returns {State} */
export const newState = () => ({ session: "unknown", standing: null, ahead: 0, detail: "", failures: 0, isTooOften: false });

// next returns the state after an answer at a time, and how long to wait before the next request. A
// pause of Infinity means until the viewer does something.
/** @param {State} state @param {Answer} answer @param {number} now @returns {{state: State, pause: number}} */
export function next(state, { status, body, detail = "", retryAfter = 0 }, now) {
  if (status === 200) {
    const ahead = Date.parse(body.now) - now;
    return { state: { ...newState(), session: "in", standing: body, ahead }, pause: pauseAfter(body) };
  }
  if (status === 401) return { state: { ...newState(), session: "out" }, pause: Infinity };
  if (status >= 400 && status < 500 && status !== 429) return { state: { ...newState(), session: "in", detail }, pause: Infinity };
  const failures = state.failures + 1;
  return {
    state: { ...state, failures, isTooOften: status === 429 },
    pause: Math.max(Math.min(usual * 2 ** (failures - 1), longest), 1000 * retryAfter),
  };
}

// pauseAfter returns how long to wait after an answer, ms: until the viewer may write again, or for
// the usual pause if that is shorter.
/** @param {Api.getViewer} standing */
function pauseAfter({ may_write, next_at, now }) {
  if (may_write || !next_at) return usual;
  return Math.min(Math.max(Date.parse(next_at) - Date.parse(now) + 100, least), usual);
}

// pauseOnFocus is how long to wait when the viewer comes back to the page.
/** @param {number} sinceLast ms since the last request */
export const pauseOnFocus = (sinceLast) => Math.max(0, least - sinceLast);

/** @param {string} method @param {string} channel @returns {Promise<Answer>} */
export async function ask(method, channel) {
  try {
    const answer = await fetch(`api/v1/viewer${method === "GET" && channel ? `?channel=${encodeURIComponent(channel)}` : ""}`, { method, cache: "no-store" });
    const body = answer.status === 204 ? undefined : await answer.json();
    return { status: answer.status, body, detail: body?.detail, retryAfter: Number(answer.headers.get("Retry-After")) || 0 };
  } catch {
    return { status: 0 };
  }
}

// canSignIn reports whether viewers can sign in here; null if there is no answer.
/** @returns {Promise<boolean | null>} */
export async function canSignIn() {
  try {
    const answer = await fetch("api/v1/sign-in");
    return answer.ok ? Boolean((await answer.json()).viewers) : answer.status === 404 ? false : null;
  } catch {
    return null;
  }
}
