import assert from "node:assert/strict";
import test from "node:test";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

globalThis.requestAnimationFrame = () => 0;
const { state } = await import("../static/app/core/state.js");
const { addressOf, arranged, countOf, inTab, limitsOf, viewOf } = await import("../static/app/now/view.js");

const outcome = (action, result = "done") => ({ penalty: action, outcome: { action, result, reason: "" } });
const at = new Date().toISOString();
const anna = { user_id: "1", at, login: "anna", held: true, never: true, limit: "burst", count: 1, total: 9, strikes: 2, ...outcome("delete") };
const berta = { user_id: "2", at, login: "Berta", held: true, never: true, limit: "daily", count: 3, total: 3, strikes: 5, ...outcome("timeout") };
const carla = { user_id: "3", at, login: "carla", held: false, never: false, limit: "burst", count: 2, total: 2, strikes: 0, ...outcome("delete", "failed") };
const dora = { user_id: "4", at, login: "dora", held: true, never: true, limit: "burst", count: 1, total: 1, strikes: 0, observed: true, ...outcome("none", "observed") };
const users = new Map([anna, berta, carla, dora].map((user) => [user.user_id, user]));
const usual = { tab: "held", sort: "newest", show: "all", limit: "" };
const names = (list) => list.map(({ login }) => login).join(" ");

test("viewOf: unknown values are the usual ones", () => {
  assert.deepEqual(viewOf({}), usual);
  assert.deepEqual(viewOf({ tab: "toString", sort: "age", show: "constructor" }), usual);
  assert.deepEqual(viewOf({ tab: "recent", sort: "name", show: "failed", limit: "burst" }), { tab: "recent", sort: "name", show: "failed", limit: "burst" });
});

test("addressOf: names what isn't usual, and viewOf reads it", () => {
  Object.assign(state, { channels: [{ id: "7", login: "gardenhour" }], channel: "7" });
  assert.equal(addressOf(state, usual), "#/now");
  assert.equal(addressOf(state, usual, { tab: "recent", limit: "a b" }), "#/now?tab=recent&limit=a+b");
});

test("inTab: who is throttled, who is silenced, and who was throttled in the last minutes, newest first", () => {
  assert.equal(names(inTab(users, "held")), "dora Berta anna");
  assert.equal(names(inTab(users, "recent")), "dora carla Berta anna");
  assert.equal(names(inTab(new Map([["1", { ...anna, leaving: true }]]), "recent")), "");
  const ended = { banned: false, until: new Date(Date.now() - 1).toISOString() }, lasting = { ...ended, until: new Date(Date.now() + 9000).toISOString() };
  const older = { at: new Date(Date.now() - 600_001).toISOString() };
  const others = [{ ...anna, silenced: lasting }, { ...berta, silenced: ended, ...older }, { ...carla, silenced: { banned: true }, total: 0 }, { ...dora, leaving: true, silenced: lasting }];
  const those = new Map(others.map((user) => [user.user_id, user]));
  assert.deepEqual(["held", "silenced", "recent"].map((tab) => names(inTab(those, tab))), ["Berta anna", "carla anna", "anna"]);
  assert.equal(countOf(anna, "held"), 1);
  assert.equal(countOf(anna, "recent"), 9);
});

test("arranged: filters and orders", () => {
  const shown = (view) => names(arranged(inTab(users, "recent"), { ...usual, tab: "recent", ...view }));
  assert.equal(shown({}), "dora carla Berta anna");
  assert.equal(shown({ sort: "name" }), "anna Berta carla dora");
  assert.equal(shown({ sort: "count" }), "anna Berta carla dora");
  assert.equal(shown({ sort: "strikes" }), "Berta anna dora carla");
  assert.equal(shown({ show: "failed" }), "carla");
  assert.equal(shown({ show: "observed" }), "dora");
  assert.equal(shown({ limit: "daily" }), "Berta");
  assert.deepEqual(limitsOf([...users.values()]), ["burst", "daily"]);
});
