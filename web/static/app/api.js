// Requests to chatguard. Addresses are relative to the page, so that it can live under any path.

// Problem is an answer other than success, in words for people.
export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status; // 0 when there was no answer at all
  }
}

// request returns {body, etag}; body is null where the answer is empty.
export async function request(method, path, { body, ifMatch } = {}) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (ifMatch) headers["If-Match"] = ifMatch;
  let answer;
  try {
    answer = await fetch("api/v1" + path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Problem(0, "chatguard doesn't answer. Is it still running?");
  }
  const content = await answer.json().catch(() => null);
  if (!answer.ok) throw new Problem(answer.status, content?.detail ?? `chatguard answered ${answer.status}.`);
  return { body: content, etag: answer.headers.get("ETag") };
}

// liveAddress is where the live feed of a channel is.
export function liveAddress(channel) {
  const address = new URL("api/v1/live", document.baseURI);
  address.protocol = address.protocol.replace("http", "ws");
  address.searchParams.set("channel", channel);
  return address;
}
