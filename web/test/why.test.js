import assert from "node:assert/strict";
import test from "node:test";
import { Why } from "../static/app/words/why.js";
import { state } from "../static/app/core/state.js";
import { at, viewText } from "../view-text.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

Object.assign(state, { channel: "1", channels: [{ id: "1", login: "c", timezone: "UTC" }] });

const now = "2026-11-03T12:00:00Z";
const allowed = { at: now, allowed: true, limit: "burst", exempt: false, never: false, retry_after_ms: 0 };
const held = { ...allowed, allowed: false, retry_after_ms: 540_000 };
const burst = { name: "burst", algorithm: "token-bucket", remaining: 2, capacity: 3, granted: 0, observes: false };

// why returns the sentence of a card.
function why(card, { mode = "enforce", in_force = mode, paused_by = "" } = {}) {
  let text = "";
  at(now, () => {
    const whole = { login: "anna", user_id: "7", timezone: "UTC", roles: ["everyone"], limits: [burst], override: {}, verdict: allowed, ...card };
    text = viewText(Why({ card: whole, state: { policy: { mode, in_force }, channels: [{ id: "1", paused_by }], channel: "1" } }));
  });
  return text;
}

const nobody = { ...allowed, limit: "" };

test("why: a user who may write", () => {
  assert.equal(why({ verdict: nobody }), "anna may write now: 2 of 3 messages left in the limit “burst”.");
  assert.equal(why({ verdict: nobody, limits: [{ ...burst, granted: 2 }] }), "anna may write now: 2 messages left in the limit “burst”, 2 of them granted.");
  assert.equal(why({ verdict: nobody, limits: [burst, { name: "daily", algorithm: "daily-window", remaining: 1, capacity: 300 }] }),
    "anna may write now: 1 of 300 messages left in the limit “daily”.");
  assert.equal(why({ verdict: nobody, limits: [{ ...burst, observes: true }] }), "anna may write now: no limits.");
});

test("why: a message of low priority", () => {
  assert.equal(why({ verdict: { ...nobody, priority: "low" } }), "anna may write now, at low priority: 2 of 3 messages left in the limit “burst”.");
});

test("why: a user without a login has an ID", () => {
  assert.equal(why({ verdict: nobody, login: "" }), "7 may write now: 2 of 3 messages left in the limit “burst”.");
});

test("why: an exempt user", () => {
  const verdict = { ...allowed, exempt: true };
  assert.equal(why({ verdict, roles: ["moderator"] }), "anna may write without limits, exempt as moderator.");
  assert.equal(why({ verdict, override: { exempt: "always" } }), "anna may write without limits, exempted permanently.");
  assert.equal(why({ verdict, override: { exempt: "always", exempt_until: "2026-11-03T13:00:00Z" } }), "anna may write without limits, exempted until 13:00:00.");
});

test("why: a throttled user", () => {
  assert.equal(why({ verdict: held }), "anna is throttled by the limit “burst”: the next message passes in 9 min, at 12:09:00.");
  assert.equal(why({ verdict: { ...held, retry_after_ms: null, never: true } }), "anna is throttled by the limit “burst”: it allows them no messages.");
});

test("why: a user who would be throttled", () => {
  const verdict = { ...held, allowed: true };
  const end = "Otherwise the limit “burst” would throttle them: the next message passes in 9 min, at 12:09:00.";
  assert.equal(why({ verdict }, { in_force: "observe", paused_by: "berta" }), `anna may write: the channel is paused by berta. ${end}`);
  assert.equal(why({ verdict }), `anna may write: this limit only observes. ${end}`);
  assert.equal(why({ verdict }, { mode: "observe" }), `anna may write: chatguard only observes. ${end}`);
});

test("why: a timeout", () => {
  const card = { silent_until: "2026-11-03T12:10:00Z" };
  assert.equal(why(card), "anna is timed out and may write again in 10 min, at 12:10:00.");
  assert.equal(why(card, { mode: "enforce", in_force: "observe", paused_by: "berta" }), "anna is timed out and may write again in 10 min, at 12:10:00.");
  assert.equal(why({ ...card, verdict: held }), "anna is timed out and may write again in 10 min, at 12:10:00.");
  assert.equal(why({ ...card, verdict: { ...held, retry_after_ms: 660_000 } }),
    "anna is timed out until 12:10:00, and throttled by the limit “burst” after that: the next message passes in 11 min, at 12:11:00.");
  assert.equal(why(card, { mode: "observe" }), "anna may write now: chatguard only observes. Otherwise they would be timed out for another 10 min, until 12:10:00.");
});

test("why: a wait that is over is a second until chatguard says so", () => {
  const verdict = { ...held, at: "2026-11-03T11:00:00Z", retry_after_ms: 1000 };
  assert.equal(why({ verdict }), "anna is throttled by the limit “burst”: the next message passes in 1 s, at 11:00:01.");
});
