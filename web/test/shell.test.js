import assert from "node:assert/strict";
import test from "node:test";
import { loadTexts } from "../testing/texts.js";

globalThis.requestAnimationFrame = () => 0;
const { state } = await import("../static/app/core/state.js");
const { alertsOf, signsOf } = await import("../static/app/shell/alerts.js");
const { commandsOf, matching } = await import("../static/app/shell/commands.js");
const { titleOf } = await import("../static/app/shell/title.js");
await loadTexts("shell");

const channels = [{ id: "1", login: "gardenhour" }, { id: "2", login: "teahouse" }];
const throttled = (count) => new Map(Array.from({ length: count }, (_, i) => [String(i), { user_id: String(i), held: true, never: true }]));

test("titleOf: count, user, page, channel", () => {
  Object.assign(state, { session: "in", route: "now", channels, channel: "1", users: throttled(8) });
  assert.equal(titleOf(state), "(8) Now · #gardenhour · chatguard");
  Object.assign(state, { route: "people", users: throttled(0), people: { person: { card: { login: "anna" } } } });
  assert.equal(titleOf(state), "anna · People · #gardenhour · chatguard");
  state.people.person.card.login = "\u202Elive" + "x".repeat(99);
  assert.equal(titleOf(state), `\u2068live${"x".repeat(46)}\u2069 · People · #gardenhour · chatguard`);
  assert.equal(titleOf({ ...state, channels: [{ id: "check:41", login: "\u200b" }], channel: "check:41", people: null }), "People · #41 · chatguard");
  assert.equal(titleOf({ ...state, session: "out" }), "Sign in · chatguard");
});

test("alertsOf: what has begun, and what was chosen", () => {
  const all = { raid: true, failure: true, many: true, count: 20 };
  const before = { channel: "1", isRaid: false, failures: ["Token refused"], throttled: 3, isMany: false };
  const after = { channel: "1", isRaid: true, failures: ["Token refused", "Database failing"], throttled: 20, isMany: true };
  assert.deepEqual(alertsOf(before, after, all), ["Raid mode has started.", "Database failing.", "20 users are throttled."]);
  assert.deepEqual(alertsOf(after, after, all), []);
  assert.deepEqual(alertsOf(after, before, all), []);
  assert.deepEqual(alertsOf(before, after, { ...all, raid: false, many: false }), ["Database failing."]);
  const looks = { ...before, looksRaided: true };
  assert.deepEqual(alertsOf(before, looks, all), ["This looks like a raid."]);
  assert.deepEqual(alertsOf(looks, looks, all), []);
  assert.deepEqual(alertsOf(before, looks, { ...all, raid: false }), []);
});

test("signsOf: many users stay many until they are fewer than half", () => {
  const alerts = { count: 20 };
  const many = (count, before) => {
    Object.assign(state, { channels, channel: "1", users: throttled(count), status: { connections: [] }, policy: null });
    return signsOf(state, before, alerts);
  };
  let signs = many(19, null);
  assert.equal(signs.isMany, false);
  for (const [count, isMany] of [[20, true], [15, true], [10, true], [9, false], [19, false], [25, true]]) {
    signs = many(count, signs);
    assert.equal(signs.isMany, isMany, `${count} users`);
  }
  assert.equal(many(15, { ...signs, channel: "2" }).isMany, false, "another channel's users");
});

test("matching: every word begins a word of the command", () => {
  Object.assign(state, { channels, channel: "1", me: { access: "moderate", mounted: false }, status: { switches: true, connections: [] } });
  const names = (text) => matching(commandsOf(state), text).map(({ name }) => name);
  assert.deepEqual(names("au"), ["Go to Audit"]);
  assert.deepEqual(names("raid st"), ["Start raid mode"]);
  assert.deepEqual(names("tea"), ["Switch to #teahouse"]);
  assert.deepEqual(names("THEME d"), ["Theme: dark"]);
  assert.deepEqual(names("nothing"), []);
  assert.ok(names("").includes("Sign out"));
});

test("commandsOf: only what is possible", () => {
  const names = () => commandsOf(state).map(({ name }) => name);
  Object.assign(state, { me: { access: "view", mounted: true }, channels: [{ id: "1", login: "gardenhour", paused_by: "anna", raid_until: "2026-01-01T00:00:00Z" }] });
  for (const name of ["Pause", "Resume", "Start raid mode", "Sign out", "Switch to #gardenhour"]) assert.ok(!names().includes(name), name);
  state.me = { access: "own" };
  for (const name of ["Resume", "End raid mode", "Sign out"]) assert.ok(names().includes(name), name);
});
