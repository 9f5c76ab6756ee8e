import assert from "node:assert/strict";
import test from "node:test";
import { answer, button, click, find, hangUp, open, refuse, requests, see, state, text, usualAnswer, write } from "../../testing/page.js";

const sent = () => requests.findLast(({ method }) => method !== "GET");
const twitch = "Signed out: Twitch no longer confirms that you moderate here. Sign in again.";
const revoked = "Signed out: your link or token was revoked or has expired. Sign in again.";

// enter types a token on the sign-in page.
async function enter(token) {
  await write("#token", token, { leave: false });
  await click(".sign-in form button");
}

test("sign-in: with a token, until it is revoked", async () => {
  await see(() => text(".sign-in h1") === "Sign in to chatguard" && text(".sign-in").includes("chatguard signin") && find("input[autocomplete=username]"));
  answer("POST /session", refuse(401, "This token is unknown, was revoked or has expired."));
  await enter("no such token");
  await see(() => text("#token-error") === "This token is unknown, was revoked or has expired." && find("#token").getAttribute("aria-invalid") === "true");
  await enter(" ");
  await see(() => text("#token-error") === "Enter the token.");
  answer("POST /session", usualAnswer("POST /session"));
  await enter(" good ");
  await see(() => state.session === "in" && text(".account").includes("owner"));
  assert.deepEqual(sent().body, { token: "good" });
  hangUp(4401);
  await see(() => text(".banner") === revoked && document.activeElement.id === "token" && document.title === "Sign in · chatguard");
  answer("POST /session", refuse(401, "This token is unknown, was revoked or has expired."));
  await enter("no such token");
  await see(() => text("#token-error") && !find(".banner"));
});

test("sign-in: after signing out", async () => {
  answer("DELETE /session", refuse(503, "The database is failing."));
  await open();
  await click(".account");
  await click("#sign-out");
  await see(() => text("body").includes("You are still signed in. The database is failing.") && state.session === "in");
  answer("DELETE /session", undefined);
  await click("#sign-out");
  await see(() => document.activeElement.id === "token" && document.title === "Sign in · chatguard" && !find(".banner"));
});

test("sign-in: after signing out of this browser only", async () => {
  answer("DELETE /session", refuse(503, "Only this browser is signed out."));
  await open();
  await click(".account");
  answer("GET /session", refuse(401, "Sign in first."));
  await click("#sign-out");
  await see(() => state.session === "out" && text(".banner") === "Only this browser is signed out.");
});

test("sign-in: with Twitch, whose answer ends it", async () => {
  answer("GET /session", { ...usualAnswer("GET /session"), from: "twitch" });
  answer("GET /sign-in", { twitch: "code", address: "signin/twitch" });
  await open();
  hangUp(4401);
  await see(() => text(".banner") === twitch && find("#with-twitch").getAttribute("href") === "signin/twitch");
  assert.ok(text(".sign-in").includes("Or run chatguard signin"));
});

test("sign-in: with a code to enter on Twitch", async () => {
  answer("GET /sign-in", { twitch: "device" });
  await open();
  hangUp(4401);
  const waiting = { state: "waiting", user_code: "ABCDEF", address: "https://www.twitch.tv/activate", expires: "2026-11-03T12:30:00Z", interval: 1 };
  answer("POST /session/device", waiting);
  answer("GET /session/device", refuse(403, "You have not authorized chatguard on Twitch."));
  await click("#with-twitch");
  await see(() => text(".user-code code") === "ABCDEF" && find("#open-twitch").getAttribute("href") === waiting.address);
  await see(() => text(".with-twitch .error") === "You have not authorized chatguard on Twitch.");
  answer("GET /session/device", { state: "done" });
  await click(".with-twitch .primary");
  await see(() => state.session === "in" && document.title.startsWith("(1) Now"));
  hangUp(4401);
  answer("GET /session/device", waiting);
  await click("#with-twitch");
  await see(() => find(".user-code"));
  await click(button("Cancel"));
  await see(() => document.activeElement.id === "with-twitch");
});
