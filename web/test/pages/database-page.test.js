import assert from "node:assert/strict";
import test from "node:test";
import { answer, click, find, open, press, refuse, requests, see, send, text, texts, usualAnswer, withTag, write } from "../../testing/page.js";

const { status: usualStatus, policy: usualPolicy } = usualAnswer("frame");

const sendStatus = (changes) => send({ type: "status", status: { ...usualStatus, ...changes } });
const states = (kind) => texts(`.states .state.${kind}`);
const word = () => text("header .status .word");

const failing = { state: "failing", detail: "disk full", since: "2026-11-03T11:57:00Z", queued: 1204, dropped: 3, lag_seconds: 180 };

test("database: its note", async () => {
  await open();
  await see(() => text(".database-note") === "" && states("good").includes("Database ok"));
  sendStatus({ database: failing });
  await see(() => word() === "Database failing");
  assert.equal(text(".database-note [role=status]"), "The database is failing: disk full. Moderation continues from memory.");
  assert.match(text(".database-note .muted"), /^Failing for 3 min( \d s)?\. 1,204 records pending\. 3 dropped: too many were pending\. A crash now would lose the changes of the last 3 min\.$/);
  send({ type: "policy", policy: { ...usualPolicy, saved: false } });
  await see(() => text(".database-note").includes("Changed limits are in force but not saved: a restart now would undo them."));
  sendStatus({ database: { state: "off" } });
  await see(() => text(".database-note") === "Nothing is saved: chatguard runs without a database. A restart resets everyone’s usage." && states("off").includes("No database nothing is saved"));
  sendStatus({});
  await see(() => text(".database-note") === "" && word() === "All good");
});

test("shared store: its note", async () => {
  const away = "Each node decides on its own; messages that pass are counted when";
  await open();
  sendStatus({ shared: { mode: "exact", up: true } });
  const usual = () => text(".switch-states .muted");
  await see(() => text(".shared-note") === "" && states("good").includes("Shared store ok") && usual() === "The usual limits apply.");
  sendStatus({ shared: { mode: "exact", up: false, refusing: true, since: "2026-01-05T14:02:00Z", problem: "10.0.0.9:6379 refuses connections: start the server, or correct `url`" } });
  await see(() => text(".shared-note [role=status]") === `The shared store is away since Mon 5 Jan, 14:02. ${away} the store is back.`);
  assert.equal(text(".shared-note .muted"), "10.0.0.9:6379 refuses connections: start the server, or correct url");
  assert.equal(text(".shared-note code"), "url");
  assert.deepEqual([word(), usual()], ["Store away", ""]);
  sendStatus({ shared: { mode: "exact", up: true, refusing: true, problem: "the server's memory is full: raise maxmemory" } });
  await see(() => text(".shared-note [role=status]") === `The shared store refuses changes. ${away} the store accepts changes again.` && word() === "Store refuses");
  assert.match(text(".shared-note"), /raise maxmemory$/);
  assert.equal(usual(), "");
  sendStatus({ shared: { mode: "exact", up: true } });
  await see(() => text(".shared-note") === "" && usual() === "The usual limits apply.");
});

test("shared store: a change that fails keeps what was typed", async () => {
  const refusal = "The shared store doesn't answer: nothing was changed. Try again when it is back.";
  answer("GET /channels/7/users/42/week", refuse(503, "The database is failing."));
  answer("POST /channels/7/users/42/grant", refuse(503, refusal));
  await open("people?user=42");
  sendStatus({ shared: { mode: "exact", up: true } });
  await see(() => text("#limits-of-user").includes("Limits used on all nodes"));
  sendStatus({ shared: { mode: "exact", up: false } });
  await see(() => text("#limits-of-user").includes("used on all nodes, as far as this node knows"));
  await click("#amend-grant");
  await write("#grant-messages", "17");
  await click(".amend .primary");
  await see(() => text(".person").includes(refusal));
  assert.equal(find("#grant-messages").value, "17");
});


const burst = (burst) => {
  const policy = usualAnswer("GET /channels/7/policy");
  policy.limits[0].burst = burst;
  return policy;
};

// openLimits opens the page Limits while the database is in a state. What is saved there has a
// tag with its burst, and is answered as saved or not.
async function openLimits(database, { saved = false } = {}) {
  answer("GET /channels/7/policy", withTag('"3"', burst(3)));
  answer("PUT /channels/7/policy", ({ body }) => withTag(`"new-${body.limits[0].burst}"`, { channel: "7", number: 1, author: "link:anna", at: "2026-11-03T12:00:00Z", policy: body, changes: [{ key: "limit.burst.burst", from: 3, to: body.limits[0].burst }], difference: [], saved }));
  answer("frame", { ...usualAnswer("frame"), policy: { ...usualPolicy, etag: '"3"' }, status: { ...usualStatus, database } });
  await open("limits");
  await see(() => find("#burst-0"));
}

async function save(count) {
  await write("#burst-0", String(count));
  await click(".finish .primary");
}

const unsaved = "In force, but not saved yet: the database is failing (disk full). The change will be saved once the database works again. A restart before then would undo it.";

test("limits: changed while the database fails", async () => {
  await openLimits(failing);
  await save(2);
  await see(() => text(".note.unsaved") === `${unsaved} Undo` && !find(".note.good"));
  send({ type: "policy", policy: { ...usualPolicy, etag: '"new-2"', saved: false } });
  await press("Escape"); // the note shows a state, so it stays
  await see(() => text(".note.unsaved") === unsaved);
  await save(4);
  await see(() => find(".unsaved button"));
  sendStatus({});
  send({ type: "policy", policy: { ...usualPolicy, etag: '"new-4"', saved: true } });
  await see(() => !find(".unsaved") && text(".note.good").startsWith("Saved by anna (link)"));
  assert.deepEqual(requests.filter(({ method }) => method === "PUT").map(({ body, headers }) => [body.limits[0].burst, headers.get("If-Match")]), [[2, '"3"'], [4, '"new-2"']]);
});

test("limits: changed by somebody else while the database fails", async () => {
  await openLimits(failing);
  answer("GET /channels/7/policy", withTag('"2"', burst(2)));
  send({ type: "policy", policy: { ...usualPolicy, etag: '"2"', saved: false } });
  await see(() => find("#burst-0").value === "2" && text(".note.unsaved") === unsaved); // undo isn't offered
  send({ type: "policy", policy: { ...usualPolicy, etag: '"2"', saved: true } });
  await see(() => !find(".unsaved") && !find(".note.good"));
});

test("limits: the last change can't be read", async () => {
  answer("GET /channels/7/policy/revisions", refuse(503, "The database is failing."));
  await openLimits(failing);
  await see(() => text("main").includes("The last change could not be loaded."));
  await save(2);
  await see(() => find(".unsaved button") && text("main").includes("Changed by anna"));
  await click(".unsaved button");
  await see(() => find("#burst-0").value === "3" && find(".unsaved"));
});

test("limits: a refused change", async () => {
  await openLimits({ state: "ok" });
  answer("PUT /channels/7/policy", refuse(503, "Nothing was changed: the database is failing."));
  await save(2);
  await see(() => text(".note.bad") === "Nothing was changed: the database is failing." && !find(".unsaved"));
  assert.equal(find("#burst-0").value, "2");
});

test("limits: changed without a database", async () => {
  await openLimits({ state: "off" });
  await save(2);
  await see(() => text(".note.unsaved").startsWith("In force until the next restart. Nothing is saved: chatguard runs without a database."));
});
