// Requests to chatguard. Addresses are relative to the page, so that it can live under any path.

// Problem is an answer other than success, in words for people.
export class Problem extends Error {
  constructor(status, detail, mounted = false) {
    super(detail);
    this.status = status; // 0 when there was no answer at all
    this.mounted = mounted; // the dashboard is part of another site, where people sign in
  }
}

// retryWithin is how many seconds chatguard may ask to wait before a request is sent once more.
const retryWithin = 5;

// request returns {body, etag}; body is null where the answer is empty. A signal that aborts it makes it throw what the signal says. If chatguard is too
// busy for a moment, the request is sent once more after that.
export async function request(method, path, { body, ifMatch, signal } = {}) {
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
    throw new Problem(0, "chatguard doesn't answer. Is it still running?");
  }
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, content?.detail ?? `chatguard answered ${answer.status}.`, content?.mounted);
  return { body: content, etag: answer.headers.get("ETag") };
}

// pause waits, and throws as soon as the signal aborts it.
const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)));
  });

// liveAddress is where the live feed of a channel is, for whoever has followed the feed of that name up to the frame with that number; 0 is nobody.
export function liveAddress(channel, feed, after) {
  const address = new URL("api/v1/live", document.baseURI);
  address.protocol = address.protocol.replace("http", "ws");
  address.searchParams.set("channel", channel);
  if (after > 0) {
    address.searchParams.set("feed", feed);
    address.searchParams.set("after", after);
  }
  return address;
}
