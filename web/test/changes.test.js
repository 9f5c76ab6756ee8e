import assert from "node:assert/strict";
import test from "node:test";
import { ban, exempt, exemptLength, exemptLengths, forget, grant, grantable, grantedUsually, kindOf, mayUndo, noticeOf, outcomeOf, pardon, reset, timeOut, undo } from "../static/app/changes/user.js";
import { state } from "../static/app/core/state.js";
import { at } from "../view-text.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules", "widgets");

const card = {
  override_etag: '"1"', timezone: "UTC", day_ends: "2026-11-04T00:00:00Z",
  limits: [
    { name: "crowd", algorithm: "fixed-window", per: "channel" }, { name: "burst", algorithm: "token-bucket", per: "user" },
    { name: "daily", algorithm: "daily-window", per: "user" }, { name: "total", algorithm: "user-window", per: "user-everywhere" },
  ],
};

globalThis.requestAnimationFrame = () => 0;

// answering makes chatguard answer all requests alike while a function runs. It returns the
// requests.
async function answering(status, body, run) {
  const requests = [];
  globalThis.fetch = async (address, { method }) => {
    requests.push(`${method} ${address}`);
    return new Response(JSON.stringify(body), { status });
  };
  Object.assign(state, { session: "in", channel: "1", changes: {}, users: new Map() });
  await run();
  return requests;
}

test("changes: the outcome is stored by user", async () => {
  const requests = await answering(200, { saved: true, until: null }, async () => {
    const outcome = await grant("7", "burst", 2);
    assert.equal(outcome.sentence, "2 extra messages in the limit “burst”.");
    assert.equal(state.changes["7"], outcome);
  });
  assert.deepEqual(requests, ["POST api/v1/channels/1/users/7/grant"]);
});

test("changes: one at a time for each user", async () => {
  const requests = await answering(200, { saved: true }, async () => {
    const first = reset("7");
    assert.equal(state.changes["7"].busy, true);
    forget("7");
    const outcomes = await Promise.all([first, reset("7"), reset("8")]);
    assert.deepEqual(outcomes.map((outcome) => outcome?.busy), [false, undefined, false]);
  });
  assert.equal(requests.length, 2);
});

test("changes: a pending change keeps the last notice, without its problem", async () => {
  await answering(200, { saved: true }, async () => {
    await reset("7");
    const pending = exempt("7", "1h");
    assert.equal(noticeOf(state.changes["7"]), "Reset: usage and strikes are cleared.");
    await pending;
  });
  await answering(503, { detail: "The database is failing." }, async () => {
    await pardon("7");
    const pending = pardon("7");
    assert.equal(noticeOf(state.changes["7"]), "");
    await pending;
    assert.equal(noticeOf(state.changes["7"]), "The database is failing.");
  });
});

test("changes: only chatguard's own answer says that nothing was done", async () => {
  for (const [body, isUnknown] of [[{ detail: "The database is failing." }, false], [null, true]]) {
    await answering(503, body, async () => assert.equal((await pardon("7")).isUnknown, isUnknown));
  }
});

test("changes: outcomes of users whom no page shows are dropped", async () => {
  await answering(200, { saved: true }, async () => {
    state.users.set("8", {});
    for (const user of ["7", "8", "9"]) await reset(user);
    assert.deepEqual(Object.keys(state.changes), ["8", "9"]);
    forget("8");
    assert.deepEqual(Object.keys(state.changes), ["9"]);
  });
});

test("changes: an answer for another channel is ignored", async () => {
  await answering(200, { saved: true }, async () => {
    const pending = reset("7");
    Object.assign(state, { channel: "2", changes: {} }); // as the live feed does
    assert.equal(await pending, null);
    assert.deepEqual(state.changes, {});
  });
});

test("changes: notices", () => {
  const done = { sentence: "Done." };
  assert.equal(kindOf(outcomeOf(done)), "done");
  assert.equal(kindOf(outcomeOf({ ...done, isPartial: true })), "warn");
  assert.equal(kindOf(outcomeOf({ ...done, isSaved: false })), "warn");
  assert.equal(kindOf(outcomeOf({ problem: "No." })), "bad");
  assert.equal(noticeOf(outcomeOf({ ...done, isSaved: false }), { state: "off" }), "Done. In force until the next restart: there is no database.");
  assert.equal(noticeOf(outcomeOf({})), "");
});

test("grants: in limits of single users, first in the one that counts by days", () => {
  assert.deepEqual(grantable(card).map(({ name }) => name), ["burst", "daily", "total"]);
  assert.equal(grantedUsually(card), "daily");
  assert.equal(grantedUsually({ limits: card.limits.slice(0, 2) }), "burst");
  assert.equal(grantedUsually({ limits: card.limits.slice(0, 1) }), undefined);
  state.me = { ...state.me, channels: { 1: "own" } };
  assert.deepEqual(grantable(card).map(({ name }) => name), ["burst", "daily"]);
  state.me = { ...state.me, channels: undefined };
});

test("exemptions: until the user's day ends", () => {
  at("2026-11-03T22:00:00Z", () => {
    assert.deepEqual(exemptLengths(card).map(({ name }) => name), ["for 10 minutes", "for an hour", "for 4 hours", "until the end of their day, 00:00 UTC", "permanently"]);
    assert.equal(exemptLengths(null)[3].name, "until the end of their day, …");
    assert.equal(exemptLength(card, "day"), "7200s");
    assert.equal(exemptLength(card, "10m"), "10m");
  });
});

test("undo: only what is still in force", () => {
  at("2026-11-03T12:00:00Z", () => {
    assert.equal(mayUndo(null), false);
    assert.equal(mayUndo(outcomeOf({})), false);
    assert.equal(mayUndo(outcomeOf({ undoing: { pardon: 1, until: "2026-11-03T12:00:01Z" } })), true);
    assert.equal(mayUndo(outcomeOf({ undoing: { pardon: 1, until: "2026-11-03T12:00:00Z" } })), false);
    assert.equal(mayUndo(outcomeOf({ undoing: { former: {}, etag: '"1"' } }), card), true);
    assert.equal(mayUndo(outcomeOf({ undoing: { former: {}, etag: '"0"' } }), card), false);
    assert.equal(mayUndo(outcomeOf({ undoing: { former: {}, etag: '"0"' } })), true);
  });
});

test("changes: a timeout and a ban are undone by lifting them", async () => {
  const sent = await answering(200, { saved: true, already: false, undo: "timeout", silenced: { banned: false, until: "2026-11-03T12:10:00Z", by: "me" } }, async () => {
    at("2026-11-03T12:00:00Z", () => timeOut("5", "10 min", "", false, "UTC"));
  });
  assert.deepEqual(sent, ["POST api/v1/channels/1/users/5/timeout"]);
  await answering(200, { saved: true, already: false, undo: "ban", silenced: { banned: true, by: "me" } }, async () => {
    const outcome = await ban("5", "spam");
    assert.deepEqual([outcome.done, outcome.severity, outcome.undoing, mayUndo(outcome)], ["banned", "banned", { lift: "ban", replaced: undefined }, true]);
  });
  const undone = await answering(200, { saved: true, already: false, before: { banned: true, by: "twitch:mo" } }, async () => {
    const outcome = await undo("5", { lift: "ban" });
    assert.equal(outcome.sentence, "Unbanned. The timeout or ban was given by mo on Twitch.");
  });
  assert.deepEqual(undone, ["DELETE api/v1/channels/1/users/5/ban"]);
});

test("changes: a conflict is told from other refusals", async () => {
  for (const [status, isConflict] of [[409, true], [422, false]]) {
    await answering(status, { detail: "no" }, async () => assert.equal((await timeOut("5", "1m", "", false)).isConflict, isConflict));
  }
});
