import assert from "node:assert/strict";
import test from "node:test";

import { partsOf, summaryOf } from "../static/app/shell/status.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("shell");

const calm = {
  channel: "1",
  channels: [{ id: "1", login: "gardenhour" }, { id: "2", login: "other", paused_by: "anna" }],
  feed: { state: "open" },
  policy: { in_force: "enforce" },
  status: { connections: [{ name: "Twitch", state: "connected" }, { name: "Helix", state: "not asked yet" }], database: { state: "ok" } },
};

const withStates = (...connections) => ({ ...calm, status: { ...calm.status, connections } });

test("summaryOf: the worst state wins", () => {
  const raid = { ...calm, channels: [{ id: "1", login: "gardenhour", raid_until: "2026-01-01T00:00:00Z" }] };
  const paused = { ...raid, channels: [{ ...raid.channels[0], paused_by: "anna" }] };
  const looks = { ...calm, channels: [{ id: "1", login: "gardenhour", raid_signs: { since: "2026-01-01T00:00:00Z", messages: 40, suspicious: 40 } }] };
  for (const [state, kind, word] of [
    [calm, "good", "All good"],
    [looks, "raid", "Looks like a raid"],
    [{ ...looks, dismissedRaid: "1 2026-01-01T00:00:00Z" }, "good", "All good"],
    [{ ...looks, dismissedRaid: "1 2025-01-01T00:00:00Z" }, "raid", "Looks like a raid"],
    [{ ...calm, status: null }, "off", "Connecting…"],
    [{ ...calm, policy: { in_force: "observe" } }, "notice", "Observing"],
    [raid, "raid", "Raid mode"],
    [paused, "paused", "Paused"],
    [{ ...paused, status: { ...calm.status, database: { state: "failing" } } }, "bad", "Database failing"],
    [withStates({ name: "Helix", state: "low" }), "warn", "Twitch API low"],
    [withStates({ name: "Helix", state: "low" }, { name: "Token", state: "refused" }), "bad", "2 problems"],
    [withStates({ name: "#other", state: "moderated by nobody" }), "bad", "#other moderated by nobody"],
    [withStates({ name: "#other", state: "moderated alone" }), "warn", "#other moderated by this node alone"],
    [{ ...calm, feed: { state: "lost" } }, "bad", "Disconnected"],
  ]) {
    const summary = summaryOf(state);
    assert.deepEqual([summary.kind, summary.word, summary.isTrouble], [kind, word, kind === "bad"]);
  }
});

test("partsOf: Twitch's API is not ok before it has answered", () => {
  const helix = (state) => partsOf(withStates({ name: "Helix", state })).find(({ text }) => text.startsWith("Twitch API"));
  assert.deepEqual(helix("not asked yet"), { kind: "off", text: "Twitch API not asked yet", detail: undefined });
  assert.equal(helix("ok").kind, "good");
  assert.equal(helix("failing").kind, "bad");
});

test("partsOf: the shared store", () => {
  const withShared = (shared) => ({ ...calm, status: { ...calm.status, shared } });
  const last = (shared) => partsOf(withShared(shared)).at(-1);
  for (const [shared, kind, text, detail] of [
    [undefined, "good", "Database ok"],
    [{ mode: "exact", up: true }, "good", "Shared store ok"],
    [{ mode: "synchronised", up: false, problem: "no route" }, "bad", "Shared store away", "no route"],
    [{ mode: "exact", up: true, refusing: true, problem: "memory is full" }, "bad", "Shared store refuses changes", "memory is full"],
    [{ mode: "exact", up: true, problem: "no replica" }, "warn", "Shared store: check", "no replica"],
    [{ mode: "shares", up: true }, "good", "Limits divided among nodes"],
  ]) {
    const part = last(shared);
    assert.deepEqual([part.kind, part.text, part.detail], [kind, text, detail]);
  }
  assert.equal(summaryOf(withShared({ mode: "exact", up: false })).word, "Store away");
  assert.equal(summaryOf(withShared({ mode: "exact", up: true, problem: "no replica" })).word, "Check store");
});
