// Asks chatguard about each line of standard input, as a chat server would: node check.mjs ROOM USER < lines
import { createInterface } from "node:readline";

const address = (process.env.CHATGUARD_URL ?? "http://127.0.0.1:8080").replace(/\/$/, "") + "/api/v1/check";
const headers = { Authorization: `Bearer ${process.env.CHATGUARD_TOKEN}`, "Content-Type": "application/json" };

async function check(message) {
  try {
    // fetch keeps the connection for the next message
    const answer = await fetch(address, { method: "POST", headers, body: JSON.stringify(message), signal: AbortSignal.timeout(2000) });
    const body = await answer.json();
    return "allowed" in body ? body : { allowed: true, problem: body.detail };
  } catch (error) {
    return { allowed: true, problem: error.message }; // chat goes on without chatguard
  }
}

const [channel, user_id] = process.argv.slice(2);
for await (const text of createInterface({ input: process.stdin })) {
  const verdict = await check({ channel, user_id, text });
  if (verdict.problem) console.error("unchecked:", verdict.problem);
  if (verdict.allowed) console.log("shown");
  else if (verdict.never) console.log("dropped: waiting doesn't help");
  else console.log(`dropped: wait ${Math.ceil(verdict.retry_after_ms / 1000)} s`);
}
