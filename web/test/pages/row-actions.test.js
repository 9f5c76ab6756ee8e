import assert from "node:assert/strict";
import test from "node:test";
import { advance, all, answer, button, click, find, open, press, refuse, requests, see, send, text, texts, usualAnswer, write } from "../../testing/page.js";

const spammer = "/channels/7/users/42";
const card = usualAnswer(`GET ${spammer}`);
const [user] = usualAnswer("frame").users;
const question = () => text(".held .question");
const answered = () => text(".held .question .outcome");
const refused = () => text(".held .question [role=alert]");
const deed = () => text(".row[data-user='42'] .deed");
const control = (name) => find(`#${name}-of-42`);
const hasFocus = (name) => document.activeElement.id === `${name}-of-42`;
const sent = () => requests.findLast(({ method }) => method !== "GET");
const accepts = (request, body = {}) => answer(`${request.replace(" ", ` ${spammer}/`)}`, { saved: true, ...body });
const choose = (label) => click(all(".held .question button").find((one) => text(one) === label));

// ask opens a question from the menu of the spammer's row.
async function ask(label) {
  await click("#menu-of-42");
  await choose(label);
}

async function openNow(access = "own") {
  answer("GET /session", { ...usualAnswer("GET /session"), access, all: access });
  await open();
  await see(() => find(".row[data-user='42']"));
}

const pardon = { id: 9, by: "owner", at: user.at, undo_until: "2026-11-03T12:05:00Z", again: false, first: 1, last: 2, since: user.at, messages: 4, has_older: false, deleted: 2, strikes_taken: 2, strikes_left: 0, dropped: 0, silence: "none" };
const throttledBy = { limit: "burst", algorithm: "token-bucket", per: "user", may_speak_at: user.may_speak_at, never: false };

test("row: a pardon, its outcome and its undo", async () => {
  accepts("POST pardon", { ...pardon, held: throttledBy });
  accepts("DELETE pardon/9", { messages: 4, strikes_restored: 2, lifted: true, dropped: 0 });
  await openNow();
  await click("#pardon-of-42");
  const said = "Pardoned: 4 messages, 2 strikes removed. Deleted messages stay deleted. The limit “burst” allows the next message at 12:10:00. To let them write now, use Grant or Reset.";
  await see(() => deed() === "pardoned, still throttled" && find(".row .deed").title === said && answered() === said && hasFocus("first"));
  assert.deepEqual(texts("[aria-live], [role=status], [role=alert]").filter((one) => one.includes(said)), [`Spammer: ${said}`]); // announced once
  await choose("Undo");
  await see(() => answered() === "Pardon undone. 2 strikes restored. The timeout or ban is not repeated.");
  assert.deepEqual([sent().method, sent().path], ["DELETE", `${spammer}/pardon/9`]);
});

test("row: the number of throttled users doesn’t cut an announcement short", async () => {
  accepts("POST pardon", pardon);
  await openNow();
  send({ type: "throttled", users: [{ ...user, user_id: "50", login: "other" }], gone: [] });
  await advance(1000);
  await click("#pardon-of-42");
  const isSaid = () => text("[aria-live]").startsWith("Spammer: Pardoned:");
  await see(isSaid);
  await advance(2900);
  assert.ok(isSaid());
  send({ type: "status" });
  await see(() => text("[aria-live]") === "2 users are throttled.");
});

test("row: a pardoned user whom a limit still throttles gets a grant", async () => {
  accepts("POST pardon", { ...pardon, held: throttledBy });
  accepts("POST grant", { until: "2026-11-04T00:00:00Z" });
  await openNow();
  await click("#pardon-of-42");
  await choose("Grant…");
  await see(() => question().startsWith("Give Spammer"));
  await choose("Grant");
  await see(() => deed().startsWith("10 granted until ") && !find(".question") && hasFocus("pardon"));
});

test("row: a pardon that doesn’t lift the timeout is no success", async () => {
  accepts("POST pardon", { ...pardon, silence: "kept", kept: "somebody else banned them" });
  await openNow();
  await click("#pardon-of-42");
  await see(() => deed().startsWith("partly pardoned") && answered().includes("The timeout or ban remains: somebody else banned them."));
  assert.ok(!find(".row .deed .chip").matches(".changed"));
});

test("row: another’s pardon, whose undo is refused or too late", async () => {
  accepts("POST pardon", { ...pardon, again: true, by: "token:berta", undo_until: "2026-11-03T12:00:03Z" });
  answer(`DELETE ${spammer}/pardon/9`, refuse(409, "The strikes have changed since the pardon."));
  await openNow();
  await click("#pardon-of-42");
  await see(() => answered().startsWith("Already pardoned by berta (token): 4 messages, 2 strikes removed."));
  await choose("Undo");
  await see(() => refused() === "The strikes have changed since the pardon.");
  await click("#pardon-of-42");
  await see(() => button("Undo"));
  await see(() => !button("Undo") && answered().startsWith("Already pardoned"));
});

test("row: grant", async () => {
  accepts("POST grant", { until: "2026-11-04T00:00:00Z" });
  await openNow();
  await ask("Grant…");
  await see(() => texts(".question option").join() === "burst,daily" && find(".question select").value === "burst" && control("first").value === "10" && hasFocus("first"));
  await press("Escape", control("first"));
  await see(() => !find(".question") && hasFocus("menu"));
  await ask("Grant…");
  await see(() => find(".question option + option"));
  await write(control("first"), "2", { leave: false });
  await write(".question select", "daily", { leave: false });
  await click(".question .primary");
  await see(() => deed() === "2 granted until Wed 4 Nov, 00:00" && !find(".question") && hasFocus("menu"));
  assert.deepEqual(sent().body, { limit: "daily", messages: 2 });

  answer(`GET ${spammer}`, { ...card, limits: [{ ...card.limits[0], per: "channel" }] });
  await ask("Grant…");
  await see(() => question() === "Nothing to grant: no limit counts per user. Close");
});

test("row: exempt", async () => {
  accepts("POST exempt", { until: "2026-11-03T12:10:00Z", override_etag: '"new"', former: {} });
  accepts("DELETE override");
  await openNow();
  for (const [label, body] of [["for 10 minutes", { for: "10m" }], ["for an hour", { for: "1h" }], ["for 4 hours", { for: "4h" }], ["permanently", {}]]) {
    await ask("Exempt…");
    await see(() => question().startsWith("Let Spammer write without limits") && question().includes("until the end of their day, 00:00"));
    await choose(label);
    await see(() => deed().startsWith("exempt "));
    assert.deepEqual(sent().body, body);
    await choose("Undo");
    await see(() => deed() === "undone" && !find(".question"));
    assert.equal(sent().headers.get("If-Match"), '"new"');
  }
});

test("row: reset asks first", async () => {
  accepts("POST reset");
  await openNow();
  await ask("Reset…");
  await see(() => question().startsWith("Reset Spammer? This clears their usage and strikes."));
  await choose("Cancel");
  await see(() => !find(".question") && hasFocus("menu"));
  assert.equal(sent().path, "/session");
  await ask("Reset…");
  await choose("Reset");
  await see(() => deed() === "reset" && !find(".question"));
});

test("row: after a grant, reset or pardon, the same message still waits", async () => {
  for (const request of ["POST grant", "POST reset"]) accepts(request);
  accepts("POST pardon", pardon);
  await openNow();
  send({ type: "throttled", users: [{ ...user, limit: "copies", same_text: true }], gone: [] });
  const waits = () => /^\S.*\. The same message still has to wait (10 min|9 min \d+ s)\.$/.test(answered());
  await ask("Grant…");
  await see(() => button("Grant"));
  await choose("Grant");
  await see(() => answered().startsWith("10 extra messages") && waits());
  await ask("Reset…");
  await choose("Reset");
  await see(() => answered().startsWith("Reset: usage and strikes are cleared.") && waits());
  await click("#pardon-of-42");
  await see(() => answered().startsWith("Pardoned: 4 messages") && waits());
});

test("row: what is refused, and what isn’t saved", async () => {
  await openNow();
  for (const label of ["Reset", "Pardon"]) {
    answer(`POST ${spammer}/${label.toLowerCase()}`, refuse(503, "The database is failing."));
    if (label === "Pardon") await click("#pardon-of-42");
    else {
      await ask("Reset…");
      await choose("Reset");
    }
    await see(() => refused() === "The database is failing." && deed() === "refused: The database is failing.");
    await press("Escape", ".question button");
    await see(() => !find(".question") && deed() === "deleting…");
  }
  accepts("POST pardon", { ...pardon, saved: false });
  await click("#pardon-of-42");
  await see(() => answered().endsWith("In force, but not saved yet: a restart now would undo it.") && deed() === "pardoned: not saved yet");
});

test("row: viewers see no buttons", async () => {
  await openNow("view");
  assert.equal(all(".users .acts").length, 0);
  assert.equal(text(".me"), "owner · view only");
});

test("row: the name leads to the card", async () => {
  await openNow();
  assert.equal(control("name").getAttribute("href"), "#/people?user=42");
});

const timeout = { banned: false, at: "2026-11-03T12:00:00Z", until: "2026-11-03T12:10:00Z", by: "owner" };
const isOff = (name) => control(name).getAttribute("aria-disabled") === "true";
const slots = () => ["pardon", "timeout", "ban", "lift", "menu"].map((name) => (isOff(name) ? "-" : name)).join(" ");
const offer = (lengths, reason = "") => {
  const frame = usualAnswer("frame");
  answer("frame", { ...frame, channels: [{ ...frame.channels[0], timeouts: { lengths, reason } }] });
};

test("row: a timeout by one click, and its undo", async () => {
  accepts("POST timeout", { already: false, silenced: timeout, undo: "timeout" });
  accepts("DELETE timeout", { already: false, before: timeout });
  offer(["1m0s", "24h0m0s"], "calm down");
  await openNow();
  assert.deepEqual([text(control("timeout")), control("timeout").title], ["1 min", "Time out Spammer for 1 min"]);
  await click("#timeout-of-42");
  await see(() => answered() === "Timed out until 12:10:00." && slots() === "pardon timeout ban lift menu");
  assert.deepEqual(sent().body, { length: "1m", reason: "calm down", replace: false });
  await choose("Undo");
  await see(() => answered() === "Timeout ended." && deed() === "timeout ended" && slots() === "pardon timeout ban - menu");
  assert.deepEqual([sent().method, sent().path], ["DELETE", `${spammer}/timeout`]);
  await choose("Close");
  assert.ok(hasFocus("timeout"));

  await click("#menu-of-42");
  await see(() => texts(".question .lengths button").join() === "1 min,1 d");
  await choose("1 d");
  await see(() => answered() === "Timed out until 12:10:00.");
  assert.deepEqual(sent().body, { length: "24h", reason: "calm down", replace: false });
});

test("row: a timeout of another duration, or for another reason", async () => {
  accepts("POST timeout", { already: false, silenced: timeout, undo: "timeout" });
  offer(["10m0s", "30s"], "calm down");
  await openNow();
  await ask("Time out…");
  await see(() => question().startsWith("Time out Spammer for") && find(".question [name=reason]").value === "calm down");
  await write(".question [name=reason]", "too loud", { leave: false });
  const said = { "": "Enter a duration from 1 second to 14 days, such as 10m, 1h30m or 2d." };
  for (const wrong of ["", "soon", "0", "15d"]) {
    await write(".question [name=length]", wrong, { leave: false });
    await click(".question .primary");
    await see(() => refused() === (said[wrong] ?? `“${wrong}” is not a timeout. Enter 1 second to 14 days, such as 10m, 1h30m or 2d.`) && !deed().startsWith("refused"));
  }
  await write(".question [name=length]", "1h30", { leave: false });
  await click(".question .primary");
  await see(() => answered() === "Timed out until 12:10:00.");
  assert.deepEqual(sent().body, { length: "1h30m", reason: "too loud", replace: false });
  await ask("Time out…");
  await choose("30 s");
  await see(() => answered() === "Timed out until 12:10:00.");
  assert.deepEqual(sent().body, { length: "30s", reason: "calm down", replace: false });
});

test("row: a timeout that would shorten another asks for a confirmation", async () => {
  const theirs = { banned: false, until: "2026-11-03T13:00:00Z", by: "twitch:mo" };
  answer(`POST ${spammer}/timeout`, ({ body }) => (body.replace ? { saved: true, already: false, silenced: { ...timeout, until: "2026-11-03T12:00:30Z" }, before: theirs, undo: "timeout" } : refuse(409, "A timeout of 30 s would be shorter.")));
  offer(["30s"]);
  await openNow();
  for (const open of [() => click("#timeout-of-42"), () => ask("Time out…").then(() => choose("30 s"))]) {
    await open();
    await see(() => refused() === "A timeout of 30 s would be shorter.");
    await choose("Time out anyway");
    await see(() => answered() === "Timed out until 12:00:30. This replaces a timeout by mo on Twitch until 13:00:00.");
    assert.deepEqual(sent().body, { length: "30s", reason: "", replace: true });
    await choose("Close");
  }
});

test("row: ban and unban", async () => {
  accepts("POST ban", { already: false, silenced: { banned: true, by: "owner" }, undo: "ban" });
  accepts("DELETE ban", { already: false, before: { banned: true, by: "owner" } });
  await openNow();
  await click("#ban-of-42");
  await see(() => question().startsWith("Ban Spammer permanently? They can’t write until you unban them."));
  await write(control("first"), "spam", { leave: false });
  await choose("Ban");
  await see(() => deed() === "banned" && answered().startsWith("Banned until somebody unbans them.") && slots() === "pardon - - lift menu");
  assert.deepEqual(sent().body, { reason: "spam" });
  const before = requests.length;
  for (const name of ["timeout", "ban"]) control(name).click();
  assert.equal(requests.length, before);
  assert.deepEqual([control("timeout").title, control("ban").title], ["banned: unban them first", "banned by owner"]);
  await choose("Close");
  await click("#lift-of-42");
  await see(() => question().startsWith("Unban Spammer? The ban was given by owner."));
  await choose("Unban");
  await see(() => answered() === "Unbanned." && slots() === "pardon timeout ban - menu");
  assert.equal(sent().path, `${spammer}/ban`);
});

test("row: no timeout and ban where chatguard doesn’t moderate", async () => {
  const frame = usualAnswer("frame");
  answer("frame", { ...frame, channels: [{ ...frame.channels[0], acts: false }] });
  await openNow();
  assert.ok(control("pardon") && !control("timeout") && !control("ban") && !control("lift"));
  await click("#menu-of-42");
  await see(() => hasFocus("first") && text(control("first")) === "Grant…" && !find(".lengths"));
});

test("row: a number of messages that isn’t one is refused in the page’s words", async () => {
  await openNow();
  await ask("Grant…");
  for (const wrong of ["", "0", "1.5", "many"]) {
    await write(control("first"), wrong, { leave: false });
    await click(".question .primary");
    await see(() => refused() === "Enter a whole number, 1 or more.");
  }
  assert.equal(sent().path, "/session");
});
