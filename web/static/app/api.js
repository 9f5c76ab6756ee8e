// Requests to chatguard. Addresses are relative to the page, so that it can live under any path.

// Problem is an answer other than success, in words for people.
export class Problem extends Error {
  constructor(status, detail, mounted = false) {
    super(detail);
    this.status = status; // 0 when there was no answer at all
    this.mounted = mounted; // the dashboard is part of another site, where people sign in
  }
}

// request returns {body, etag}; body is null where the answer is empty. A signal that aborts it makes it throw what the signal says.
export async function request(method, path, { body, ifMatch, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (ifMatch) headers["If-Match"] = ifMatch;
  let answer;
  try {
    answer = await fetch("api/v1" + path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    signal?.throwIfAborted();
    throw new Problem(0, "chatguard doesn't answer. Is it still running?");
  }
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, content?.detail ?? `chatguard answered ${answer.status}.`, content?.mounted);
  return { body: content, etag: answer.headers.get("ETag") };
}

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
