// Asks chatguard about each line of standard input, as a chat server would:
// node check.mjs ROOM USER < lines
import { createInterface } from "node:readline";

const [channel, user_id] = process.argv.slice(2);
const { CHATGUARD_TOKEN: token, CHATGUARD_URL: url = "http://127.0.0.1:8080" } = process.env;
if (!user_id || !token) {
  console.error("usage: CHATGUARD_TOKEN=… node check.mjs ROOM USER < lines");
  process.exit(1);
}
const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };

async function check(message) {
  let body;
  try {
    // fetch keeps the connection for the next message
    const answer = await fetch(`${url.replace(/\/$/, "")}/api/v1/check`, { method: "POST", headers, body: JSON.stringify(message), signal: AbortSignal.timeout(2000) });
    body = await answer.json();
  } catch (error) {
    body = { detail: `${url} doesn't answer as chatguard does: ${error.cause?.message || error.message}` };
  }
  if (typeof body?.allowed === "boolean") return body;
  console.error("unchecked:", body?.detail ?? "no verdict");
  return { allowed: true }; // chat goes on without chatguard
}

for await (const text of createInterface({ input: process.stdin })) {
  const verdict = await check({ channel, user_id, text: text.slice(0, 2000) }); // chatguard needs no more
  if (verdict.allowed) console.log("shown");
  else if (verdict.retry_after_ms == null) console.log("dropped: waiting doesn't help");
  else console.log(`dropped: wait ${Math.ceil(verdict.retry_after_ms / 1000)} s`);
}
