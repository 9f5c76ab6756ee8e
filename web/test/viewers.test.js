import assert from "node:assert/strict";
import test from "node:test";
import { newState, next, pauseOnFocus } from "../static/viewers/follow.js";
import { loadTexts } from "../testing/texts.js";
import { viewText } from "../view-text.js";

process.env.TZ = "Europe/Berlin"; // before the formats of times are made
const { Foot, isFree, SignIn, Standing, stateText } = await import("../static/viewers/view.js");
const { countdownText, lengthText, timeText } = await import("../static/viewers/words.js");
await loadTexts("viewer");

const now = Date.parse("2026-03-01T20:00:00Z");
const later = (/** @type {number} */ seconds) => new Date(now + 1000 * seconds).toISOString();
const burst = { name: "short", title: "burst", algorithm: "token-bucket", everywhere: false, capacity: 3, granted: 0, used: 3, remaining: 0, next_at: later(12), reset_at: later(20), window_seconds: 12, step_seconds: 4 };
const standing = (more = {}) => ({ now: later(0), channel: "a", login: "l", display_name: "L", may_write: true, exempt: false, observing: false, limits: [burst], same_text: [], ...more });
const held = (more = {}) => standing({ may_write: false, reason: "limit", limit: "short", next_at: later(12), ...more });

test("viewers: when to ask again", () => {
  const pause = (body) => next(newState(), { status: 200, body }, now).pause;
  assert.equal(pause(standing()), 5000);
  assert.equal(pause(held({ next_at: later(4) })), 4100);
  assert.equal(pause(held({ next_at: later(0.5) })), 3000);
  assert.equal(pause(held({ next_at: later(3600) })), 5000);
  assert.equal(pause(held({ reason: "busy", next_at: undefined })), 5000);
  assert.deepEqual([pauseOnFocus(0), pauseOnFocus(2000), pauseOnFocus(60_000)], [3000, 1000, 0]);
});

test("viewers: without an answer", () => {
  let { state, pause } = next(newState(), { status: 200, body: standing() }, now - 7000);
  assert.deepEqual([state.session, state.ahead], ["in", 7000]);
  const pauses = [];
  for (const status of [0, 503, 0, 500, 0, 0]) {
    ({ state, pause } = next(state, { status }, now));
    pauses.push(pause);
    assert.ok(state.standing, "the last answer stays");
  }
  assert.deepEqual([state.failures, pauses], [6, [5000, 10_000, 20_000, 40_000, 60_000, 60_000]]);
  ({ state, pause } = next(state, { status: 429, retryAfter: 90 }, now));
  assert.deepEqual([state.isTooOften, pause], [true, 90_000]);
  ({ state, pause } = next(state, { status: 401 }, now));
  assert.deepEqual([state.session, state.standing, state.failures, pause], ["out", null, 0, Infinity]);
  ({ state, pause } = next(state, { status: 404, detail: "There is no channel." }, now));
  assert.deepEqual([state.session, state.detail, pause], ["in", "There is no channel.", Infinity]);
});

test("viewers: what is said", () => {
  const said = (of) => viewText(Standing({ of, now })).replace(/\s+/g, " ").trim();
  assert.match(said(standing()), /^You may write now\.What you have leftburst0 of 3 left/);
  assert.match(said(held()), /^You may write again in 0:12That is at 21:00:12\.You have used up the limit burst: 3 messages at once, then one more every 4 seconds\./);
  assert.match(said(held()), /burst0 of 3 left3 messages at once, then one more every 4 seconds\.Full again at 21:00:20/);
  assert.match(said(held({ reason: "timeout", limit: undefined, next_at: later(90) })), /^You may write again in 1:30You are timed out until 21:01:30\.During a timeout/);
  assert.match(said(held({ reason: "ban", limit: undefined, next_at: undefined })), /^You are banned from this chat\.Only the channel’s moderators/);
  assert.match(said(held({ reason: "busy", limit: undefined, next_at: undefined })), /^The chat is busy\. Try again in a moment\.Many people/);
  assert.match(said(held({ never: true, next_at: undefined })), /^The limit burst allows you no messages/);
  assert.match(said(standing({ exempt: true, limits: [] })), /^You may write now\.No limits apply to you here\.$/);
  assert.match(said(standing({ observing: true })), /nobody is throttled/);
  assert.match(said(standing({ raid_until: later(600) })), /Raid mode is on until 21:10:00/);
  assert.doesNotMatch(said(standing({ raid_until: later(-1) })), /Raid/);
  assert.equal(stateText(held(), now), "You may write again at 21:00:12. You have used up the limit burst: 3 messages at once, then one more every 4 seconds.");
});

test("viewers: who is signed in, and who can sign in", () => {
  assert.equal(viewText(Foot({ name: "Spammer", signOut() {} })).replace(/\s+/g, " ").trim(), "Signed in as SpammerSign outOnly you see this. Times are in Europe/Berlin.");
  const about = "Sign in with Twitch to see when you may write again, and how many messages you have left. Twitch only tells chatguard who you are, and nothing is stored.";
  const offer = (canSignIn) => viewText(SignIn({ canSignIn })).replace(/\s+/g, " ").trim();
  assert.deepEqual([false, null, true].map(offer), [
    "When may you write again?Signing in with Twitch isn’t set up here.",
    `When may you write again?${about}`,
    `When may you write again?${about}Sign in with Twitch`,
  ]);
});

test("viewers: every algorithm has a rule", () => {
  const said = (limit) => viewText(Standing({ of: standing({ limits: [{ ...burst, ...limit }] }), now }));
  for (const [days, per] of [[6, "week"], [7, "week"], [28, "month"], [31, "month"]]) {
    assert.match(said({ algorithm: "daily-window", capacity: 300, window_seconds: Number(days) * 86_400, step_seconds: 0 }), new RegExp(`300 messages a ${per}\\.`));
  }
  assert.match(said({ algorithm: "daily-window", capacity: 300, granted: 5, remaining: 100, step_seconds: 0, reset_at: later(20_000) }), /100 of 305 left.*300 messages a day\..*5 extra messages included.*Full again at Monday,? 2 March at 02:34/s);
  assert.match(said({ algorithm: "sliding-log", capacity: 1, step_seconds: 0, window_seconds: 90, everywhere: true }), /1 message in 90 seconds\..*Counts your messages in all channels together/s);
  assert.match(said({ algorithm: "cascade", step_seconds: 0 }), /a few messages at once/);
  assert.match(said({ algorithm: "leaky-bucket", step_seconds: 1.5 }), /one more every 1.5 seconds/);
});

test("viewers: what the same message is allowed has no bar", () => {
  const same_text = [{ name: "no-repeats", title: "no repeats", algorithm: "sliding-log", capacity: 1, window_seconds: 30, step_seconds: 0 }];
  const said = viewText(Standing({ of: standing({ limits: [], same_text }), now }));
  assert.match(said, /If you repeat a message, the limit no repeats applies: 1 message in 30 seconds\./);
  assert.doesNotMatch(said, /left|Similar/);
  const similar = viewText(Standing({ of: standing({ limits: [], same_text: [{ ...same_text[0], similar: true }] }), now }));
  assert.match(similar, /applies: 1 message in 30 seconds\. Similar messages count as the same one\./);
  const everyone = viewText(Standing({ of: standing({ limits: [], same_text: [{ ...same_text[0], everyone: true }] }), now }));
  assert.match(everyone, /For the same message from everyone together, the limit no repeats applies: 1 message in 30 seconds\./);
});

test("viewers: a wait that is over", () => {
  assert.equal(isFree(held(), now + 11_999), false);
  assert.equal(isFree(held(), now + 12_000), true);
  assert.equal(isFree(held({ reason: "busy", next_at: undefined }), now + 1e9), false);
});

test("viewers: times and durations", () => {
  assert.deepEqual([0, 1, 12_000, 61_000, 3_723_000, 172_800_000].map(countdownText), ["0:01", "0:01", "0:12", "1:01", "1:02:03", "48:00:00"]);
  assert.deepEqual([0.5, 4, 90, 600, 86_400, 604_800].map(lengthText), ["0.5 seconds", "4 seconds", "90 seconds", "10 minutes", "1 day", "1 week"]);
  assert.equal(timeText(now + 2 * 3_600_000, now), "23:00");
});
