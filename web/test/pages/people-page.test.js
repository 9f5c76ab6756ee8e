import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";
import { advance, all, answer, button, click, find, goTo, open, pick, press, refuse, requests, see, text, texts, usualAnswer, write } from "../../testing/page.js";

const spammer = "/channels/7/users/42";
const usual = usualAnswer(`GET ${spammer}`);
const [burst, daily] = usual.limits;
const [last, first] = usual.entries;
const week = { limit: "daily", capacity: 300, from: "2026-10-27T12:00:00Z", until: "2026-11-03T12:00:00Z", points: [] };
const person = (user_id, login, more = {}) => ({ user_id, login, roles: [], last_seen: "2026-11-03T12:00:00Z", ...more });
const found = () => texts(".found .name bdi").join();
const about = () => text(".person");
const line = (limit) => text(all(".standing .line").find((one) => text(one).startsWith(limit)));
const note = () => text(".amends .note span");
const sent = () => requests.findLast(({ method }) => method !== "GET");
const free = { verdict: { ...usual.verdict, allowed: true, limit: "", retry_after_ms: 0 }, strikes: 0, lapse_at: undefined, limits: [{ ...burst, used: 0, remaining: 3, next_at: usual.verdict.at }, daily] };

const restored = { messages: 2, strikes_restored: 1, lifted: true, dropped: 0 };

beforeEach(() => answer(`GET ${spammer}/week`, week));

// isNow makes the server answer with a changed card from now on.
const isNow = (more) => answer(`GET ${spammer}`, { ...usual, ...more });

// openCard opens the spammer's card. access is that of the signed-in user.
async function openCard(more, access = "own") {
  answer("GET /session", { ...usualAnswer("GET /session"), access, all: access });
  isNow(more);
  await open("people?user=42");
  await see(() => find(".person h2"));
}

// changes makes the server accept a change of the spammer, and answer with a changed card after it.
const changes = (request, more, body = {}) => answer(request, () => {
  isNow(more);
  return { saved: true, ...body };
});

const copies = { name: "copies", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", similar: true };

test("people: a card says what the same message is allowed, and no usage of it", async () => {
  await openCard({ same_text: [copies] });
  assert.deepEqual(texts(".same-text li"), ["copies The same message 3 times in any 30 seconds, by everyone together, similar ones, too"]);
  assert.equal(all(".standing .line").length, 2);
});

test("people: of an exempt user, a card says nothing of the same message", async () => {
  await openCard({ same_text: [copies], verdict: { ...usual.verdict, exempt: true, limit: "" } });
  assert.deepEqual(texts(".same-text li"), []);
});

test("people: a card says when the same message may be written again, until then", async () => {
  const same_again = { limit: "copies", may_speak_at: "2026-11-03T12:00:26Z", repeats: { times: 4, people: 37, window: "30s" } };
  const said = " The same message passes again in 26 s, at 12:00:26 (limit “copies”). They wrote it 4 times in 30 seconds; 37 people did in 10 minutes.";
  await openCard({ ...free, same_again });
  assert.ok(text(".why").startsWith("Spammer may write now: 3 of 3 messages left") && text(".why").endsWith(said), text(".why"));
  for (const more of [
    { same_again: { ...same_again, may_speak_at: "2026-11-03T12:00:00Z" } },
    { same_again, silenced: { banned: true, at: usual.verdict.at, by: "" } },
    { same_again, silent_until: "2026-11-03T12:10:00Z" },
  ]) {
    isNow({ ...free, same_again });
    await advance(3000);
    await see(() => text(".why").includes("The same message passes again in"));
    isNow({ ...free, ...more });
    await advance(3000);
    await see(() => !text(".why").includes("The same message"));
  }
});

test("people: the search says what it found", async () => {
  const owls = Array.from({ length: 20 }, (_, i) => person(`${100 + i}`, `owl_${i}`));
  answer("GET /users", ({ query: { q, noted } }) => {
    if (noted) return { users: q === "" ? [{ ...owls[0], notes: 2 }] : [] };
    return q === "" ? { users: owls.slice(0, 2) } : q === "owl" ? { users: owls, more: true } : { users: owls.filter(({ login }) => login.includes(q)) };
  });
  await open("people");
  for (const [typed, summary, users] of [
    ["", "Recently active:", "owl_0,owl_1"],
    ["owl", "The 20 best matches:", owls.map(({ login }) => login).join()],
    ["owl_2", "1 user:", "owl_2"],
    ["owl_1", "11 users:", "owl_1,owl_10,owl_11,owl_12,owl_13,owl_14,owl_15,owl_16,owl_17,owl_18,owl_19"],
    ["<b>nobody</b>", "No user matches “<b>nobody</b>” (name, login or ID).", ""],
  ]) {
    await write("#find", typed);
    await see(() => text(".search .summary") === summary && found() === users);
  }
  await click(button("With notes"));
  await see(() => text(".search .summary") === "No user matches “<b>nobody</b>” (name, login or ID).");
  await write("#find", "");
  await see(() => found() === "owl_0" && find(".found .noted").title === "2 notes");
  answer("GET /users", refuse(503, "the database is failing"));
  await write("#find", "ow");
  await see(() => text(".search .error") === "the database is failing");
  answer("GET /users", { users: [] });
  await write("#find", "");
  await see(() => !find(".search .error") && text(".search .summary") === "No notes yet. Open a user to add one.");
});

test("people: keys move between the field and the users found", async () => {
  answer("GET /users", ({ query: { q } }) => ({ users: [person("42", "spammer"), person("43", "spare")].filter(({ login }) => login.startsWith(q)) }));
  answer("GET /channels/7/users/43/week", week);
  await open("people");
  await see(() => found() === "spammer,spare");
  find("#find").focus();
  await press("ArrowDown");
  await press("ArrowDown");
  await press("ArrowDown");
  assert.equal(text(document.activeElement.querySelector(".name")), "spare");
  await press("ArrowUp");
  await press("ArrowUp");
  assert.equal(document.activeElement.id, "find");
  await write("#find", "spar", { leave: false });
  await press("Enter", "#find"); // before the search for it starts
  await see(() => location.hash === "#/people?user=43" && text(".person h2") === "Anna");
});

test("people: a user without messages, and one nobody knows", async () => {
  const { last_seen: _, login: __, display_name: ___, ...unseen } = usual;
  answer("GET /channels/7/users/<i>9", { ...unseen, ...free, user_id: "<i>9", login: "", entries: [] });
  answer("GET /channels/7/users/<i>9/week", week);
  await open("people?user=<i>9");
  await see(() => about().includes("ID <i>9 · no messages recorded here") && about().includes("No throttled messages from <i>9 in the journal."));
  assert.equal(all("main i").length, 0);
  answer("GET /channels/7/users/8", refuse(404, "The channel has no user 8."));
  await goTo("people?user=8");
  await see(() => about() === "The channel has no user 8.");
});

test("card: why, strikes, limits and messages", async () => {
  await openCard({ login: "spam", roles: ["subscriber"] });
  assert.deepEqual(texts(".identity > *"), ["Spammer spam", "ID 42 · subscriber · last seen 12:00:00"]);
  const why = "Spammer is throttled by the limit “burst”: the next message passes in 10 min, at 12:10:00.";
  await see(() => text(".why") === why && text("[aria-live]") === why && text(".page-head .zone") === "Times in UTC");
  assert.ok(about().includes("1 strike, expiring in 30 min, at 12:30:00. Next penalty: delete the message."));
  assert.deepEqual(texts(".standing .line:nth-child(2) > *"), ["burst token bucket", "3 of 3 used", "0 left", "free again in 10 min 12:10:00", "resets in 30 min, at 12:30:00", "everyone"]);
  assert.deepEqual(texts(".standing .line:nth-child(3) > *"), ["daily daily window", "3 of 300 used", "297 left", "free again now", "resets in 12 h, at 00:00", "everyone"]);
  assert.deepEqual(texts(".person .entry .text"), ["hello everyone", "hello everyone"]);
  assert.match(document.title, /^\(1\) Spammer · People · #somechannel · chatguard$/);

  isNow({ ...free, entries: [], roles: ["moderator"], login: "" });
  await see(() => text(".why") === "Spammer may write now: 3 of 3 messages left in the limit “burst”."); // by itself
  for (const part of ["No strikes. First penalty: delete the message.", "No throttled messages from Spammer in the journal.", "ID 42 · moderator · last seen"]) assert.ok(about().includes(part), part);
  await goTo("people");
  await see(() => document.title === "(1) People · #somechannel · chatguard");
});

for (const [by, why] of [["chatguard", "Spammer is banned by chatguard."], ["", "Spammer is banned."]]) {
  test(`card: a ban by ${by || "nobody knows whom"}`, async () => {
    await openCard({ silenced: { banned: true, by } });
    await see(() => text(".why") === why);
  });
}

test("card: follows the next change, and says why it can’t be loaded", async () => {
  await openCard({ verdict: { ...usual.verdict, retry_after_ms: 1000 }, limits: [{ ...burst, next_at: "2026-11-03T12:00:01Z" }, daily] });
  const loads = () => requests.filter(({ path, method }) => method === "GET" && path === spammer).length;
  const before = loads();
  await see(() => loads() === before + 1);
  assert.ok(Date.now() < Date.parse("2026-11-03T12:00:02Z"), "it waits longer than the user");
  answer(`GET ${spammer}`, refuse(503, "the database is failing"));
  await see(() => text(".person .error").startsWith("the database is failing") && find(".person .stale .why"));
  answer(`GET ${spammer}`, { ...usual, entries: [], entries_unavailable: true, last_seen: undefined });
  await see(() => !find(".person .stale") && about().includes("ID 42 · login and roles unavailable"));
  answer(`GET ${spammer}`, refuse(404, "The channel has no user 42."));
  await see(() => about() === "The channel has no user 42.");
});

test("card: the user’s own time zone and numbers", async () => {
  const own = { timezone: "Asia/Tokyo", limits: { daily: { messages: 50 } } };
  await openCard({ timezone: "Asia/Tokyo", override: own, limits: [burst, { ...daily, capacity: 50, own: true, reset_at: "2026-11-03T15:00:00Z" }] });
  assert.equal(text("#limits-of-user"), "Limits the user’s day follows Asia/Tokyo");
  assert.match(line("daily"), /3 of 50 used.*GMT\+9.*custom numbers/);
  assert.match(about(), /Custom limits time zone Asia\/Tokyo; daily: 50 messages/);
  for (const place of [".identity .muted", ".entry time"]) assert.match(text(`.person ${place}`), /\d\d:\d\d:\d\d$/); // the channel's zone
  assert.doesNotMatch(about(), /no longer fit/);
  answer(`GET ${spammer}`, { ...usual, override: own, limits: [burst, { ...daily, own: false }] });
  await see(() => about().includes("The custom numbers for daily no longer fit this limit, so they don’t apply."));
});

test("card: the week of a limit", async () => {
  const points = Array.from({ length: 13 }, (_, i) => ({ at: new Date(Date.parse(week.from) + (i + 1) * 43_000_000).toISOString(), remaining: 300 - i }));
  answer(`GET ${spammer}/week`, ({ query: { limit } }) => ({ ...week, limit: limit ?? "daily", points }));
  await openCard();
  await see(() => about().includes("daily: 297 of 300 messages left now. Fewest in the last 7 days: 288 at Mon 2 Nov, 23:16:40."));
  await pick("#week ~ label select", "burst");
  await see(() => find(".chart").getAttribute("aria-label") === "Messages left in burst");
  assert.equal(requests.findLast(({ path }) => path.endsWith("/week")).query.limit, "burst");
  await click(".chart summary");
  await see(() => all(".chart tbody tr").length > 10);
});

for (const [access, timeout, grant, override] of [["view", false, false, false], ["help", false, true, false], ["moderate", true, true, true]]) {
  test(`card: what ${access} access may change`, async () => {
    await openCard({}, access);
    assert.deepEqual(["timeout", "grant", "override"].map((kind) => Boolean(find(`#amend-${kind}`))), [timeout, grant, override]);
    assert.equal(all(".amends, .pardon button, .person form, .notes button").length > 0, grant);
  });
}

test("card: only what is possible", async () => {
  const frame = usualAnswer("frame");
  answer("frame", { ...frame, channels: [{ ...frame.channels[0], acts: false }] }); // chatguard doesn't moderate the chat
  answer("GET /channels/7/week", { ...week, limit: "burst" });
  await openCard({ limits: [{ ...burst, per: "channel" }] }); // in which no user can have extra messages
  await see(() => texts(".amends button").join() === "Pardon,Exempt…,Reset…,Custom limits…");
});

test("card: notes", async () => {
  const written = { id: 5, at: usual.verdict.at, channel: "7", user_id: "42", author: "link:anna", text: "Speaks <b>Japanese</b>." };
  changes(`POST ${spammer}/notes`, { notes: [written] }, { note: written });
  changes(`DELETE ${spammer}/notes/5`, {}, { note: written, saved: false });
  await openCard();
  await write("#new-note", "é".repeat(501), { leave: false });
  await see(() => text(".new-note .error") === "Shorten the note to 1000 bytes.");
  await write("#new-note", written.text, { leave: false });
  await click(button("Add note"));
  await see(() => text(".note-text") === written.text && find("#new-note").value === "" && text(".notes li").includes("anna (link), 12:00:0"));
  assert.deepEqual([sent().body, all(".notes b").length], [{ text: written.text }, 0]);
  await click(".notes .icon-only");
  await see(() => text(".notes .asked").startsWith("Delete this note?"));
  await click(button("Delete"));
  await see(() => !find(".note-text") && text(".notes .warn").startsWith("In force, but not saved yet"));
});

test("card: grant", async () => {
  changes(`POST ${spammer}/grant`, { ...free, limits: [{ ...burst, granted: 2, remaining: 2 }, daily] }, { until: "2026-11-04T00:00:00Z" });
  await openCard();
  await click("#amend-grant");
  await see(() => document.activeElement.id === "grant-messages" && find("#grant-messages").value === "10" && find("#grant-limit").value === "daily");
  await write("#grant-messages", "none", { leave: false });
  await see(() => text("#grant-messages-error") === "Enter a whole number, 1 or more." && find(".amend .primary").getAttribute("aria-disabled") === "true");
  await write("#grant-messages", "2", { leave: false });
  await pick("#grant-limit", "burst");
  find("#grant-messages").focus();
  await click(".amend .primary");
  await see(() => note().startsWith("2 extra messages in the limit “burst”, until Wed 4 Nov, 00:00") && !find(".amend"));
  assert.deepEqual(sent().body, { limit: "burst", messages: 2 });
  assert.ok(line("burst").includes("2 left with 2 extra"));
  assert.equal(text(".why"), "Spammer may write now: 2 messages left in the limit “burst”, 2 of them granted.");
  assert.equal(document.activeElement.id, "amend-grant");

  answer(`POST ${spammer}/grant`, refuse(422, "Too many messages."));
  await click("#amend-grant");
  await write("#grant-messages", "99999999999", { leave: false });
  await click(".amend .primary");
  await see(() => text(".amend .error[role=alert]") === "Too many messages." && find("#grant-messages").value === "99999999999");
  await press("Escape", "#grant-messages");
  await see(() => !find(".amend") && document.activeElement.id === "amend-grant");
});

test("card: exempt and undo, which others’ changes end", async () => {
  const exempted = { until: "2026-11-03T12:10:00Z", override_etag: '"new"', former: { timezone: "Asia/Tokyo" } };
  const exempt = () => changes(`POST ${spammer}/exempt`, { override: { exempt: "always" }, override_etag: '"new"', verdict: { ...usual.verdict, exempt: true, allowed: true } }, exempted);
  exempt();
  changes(`PUT ${spammer}/override`, {});
  await openCard();
  await click("#amend-exempt");
  await see(() => texts("#exempt-length option").join() === "for 10 minutes,for an hour,for 4 hours,until the end of their day, 00:00,permanently");
  await pick("#exempt-length", "day");
  await click(".amend .primary");
  await see(() => note().startsWith("Exempt until 12:10") && text(".why").startsWith("Spammer may write without limits"));
  assert.deepEqual(Number.parseInt(sent().body.for) > 43_190, true, sent().body.for); // the rest of the day, s
  await click(button("Undo"));
  await see(() => note() === "Undone." && text(".why").includes("throttled by the limit “burst”"));
  assert.deepEqual([sent().body, sent().headers.get("If-Match")], [exempted.former, '"new"']);

  exempt();
  await click("#amend-exempt");
  await click(".amend .primary");
  await see(() => button("Undo"));
  isNow({ override_etag: '"theirs"', override: { limits: { daily: { messages: 70 } } } });
  await see(() => about().includes("daily: 70 messages") && note().startsWith("Exempt until") && !button("Undo"));
});

test("card: reset asks first", async () => {
  changes(`POST ${spammer}/reset`, free);
  await openCard();
  await click("#amend-reset");
  await see(() => text(".amend p") === "Reset Spammer? This clears their usage and strikes.");
  await click(button("Cancel"));
  await see(() => !find(".amend"));
  assert.equal(sent().path, "/session");
  await click("#amend-reset");
  await click(".amend .primary");
  await see(() => note() === "Reset: usage and strikes are cleared." && text(".why").includes("3 of 3 messages left") && about().includes("No strikes."));
});

test("card: custom limits", async () => {
  const before = { limits: { daily: { messages: 50 } } };
  await openCard({ override: before });
  await click("#amend-override");
  const placeholders = ["burst-burst", "refill-burst", "messages-daily"].map((name) => find(`#own-${name}`).placeholder);
  assert.deepEqual(placeholders, ["3", "10 minutes", "300"]); // the role's
  await write("#own-burst-burst", "0", { leave: false });
  await see(() => text("#own-burst-burst-error").startsWith("Enter a whole number, 1 or more"));
  await write("#own-burst-burst", "5", { leave: false });
  await write("#own-zone", "Asia/Tokyo", { leave: false });
  await click("input[value=never]");
  isNow({ override: before, strikes: 2 });
  await see(() => about().includes("2 strikes"));
  assert.ok(find("#own-burst-burst").value === "5" && find("input[value=never]").checked, "the card is updated, and the input stays");
  const own = { exempt: "never", timezone: "Asia/Tokyo", limits: { burst: { burst: 5 }, daily: { messages: 50 } } };
  changes(`PUT ${spammer}/override`, { override: own, override_etag: '"new"' }, { former: before, override_etag: '"new"' });
  await click(".amend .primary");
  await see(() => note() === "Saved. Applies from the next message on." && about().includes("never exempt; time zone Asia/Tokyo; burst: 5 at once; daily: 50 messages"));
  assert.deepEqual([sent().body, sent().headers.get("If-Match")], [own, usual.override_etag]);
  changes(`PUT ${spammer}/override`, { override: before });
  await click(button("Undo"));
  await see(() => note() === "Undone." && about().includes("Custom limits daily: 50 messages"));
  assert.deepEqual([sent().body, sent().headers.get("If-Match")], [before, '"new"']);
});

test("card: the field of a refused value is marked and gets the focus", async () => {
  const refused = (mistake) => answer(`PUT ${spammer}/override`, refuse(422, "That is too much.", { mistake: { ...mistake, problem: "It is too much." } }));
  await openCard();
  await click("#amend-override");
  for (const [field, mistake] of Object.entries({ "own-burst-burst": { limit: "burst", parameter: "burst" }, "own-zone": { parameter: "timezone" } })) {
    refused(mistake);
    await write("#own-messages-daily", field === "own-zone" ? "6" : "5", { leave: false });
    await click(".amend .primary");
    await see(() => text(`#${field}-error`) === "It is too much." && document.activeElement.id === field);
    assert.equal(find(`#${field}`).getAttribute("aria-invalid"), "true");
    assert.equal(text(".amend .error[role=alert]"), "");
  }
  refused({ limit: "burst", parameter: "reserve" });
  await write("#own-messages-daily", "7", { leave: false });
  await click(".amend .primary");
  await see(() => text(".amend .error[role=alert]") === "That is too much." && !find("[aria-invalid=true]"));
});

test("card: custom limits that someone else changes meanwhile", async () => {
  await openCard();
  await click("#amend-override");
  await write("#own-messages-daily", "5", { leave: false });
  isNow({ override_etag: '"theirs"', override: { limits: { daily: { messages: 70 } } } });
  await see(() => text(".amend .note span") === "Someone else changed this while you were editing.");
  await click(".amend .primary");
  assert.equal(sent().path, "/session"); // nothing is overwritten
  await click(".amend .note button");
  await see(() => find("#own-messages-daily").value === "70" && !find(".amend .note"));
});

test("card: a change that isn’t saved", async () => {
  changes(`POST ${spammer}/reset`, free, { saved: false });
  answer(`POST /journal/${last.id}/pardon`, { saved: false, pardon: 9, undo_until: "2026-11-03T12:05:00Z" });
  await openCard();
  await click("#amend-reset");
  await click(".amend .primary");
  await see(() => text(".amends .note.warn") === "Reset: usage and strikes are cleared. In force, but not saved yet: a restart now would undo it.");
  await click(".pardon button");
  await see(() => text(".pardon").includes("not saved yet"));
});

test("card: a message is pardoned", async () => {
  changes(`POST /journal/${last.id}/pardon`, { ...free, entries: [last, first] }, { pardon: 9, undo_until: "2026-11-03T12:05:00Z" });
  changes(`DELETE ${spammer}/pardon/9`, {}, restored);
  await openCard();
  find(".pardon button").focus();
  await click(".pardon button");
  await see(() => text(".pardon") === "Undo Pardoned" && about().includes("No strikes."));
  assert.equal(text(document.activeElement), "Undo");
  await click(".pardon button");
  await see(() => text(".pardon") === "Pardon" && about().includes("1 strike"));
});

test("card: a user is pardoned", async () => {
  const pardon = { id: 9, by: "link:anna", at: usual.verdict.at, undo_until: "2026-11-03T12:05:00Z", again: false, first: first.id, last: last.id, since: usual.verdict.at, messages: 2,
    has_older: false, deleted: 2, strikes_taken: 1, strikes_left: 0, dropped: 0, silence: "lifted" };
  const pardoned = { by: "link:anna", at: usual.verdict.at };
  changes(`POST ${spammer}/pardon`, { ...free, entries: usual.entries.map((entry) => ({ ...entry, pardoned })) }, pardon);
  changes(`DELETE ${spammer}/pardon/9`, {}, restored);
  await openCard();
  await click("#amend-pardon");
  await see(() => note() === "Pardoned: 2 messages, 1 strike removed, timeout or ban lifted. Deleted messages stay deleted." && about().includes("No strikes.") && all(".person span.pardon.muted").length === 2);
  await click(button("Undo"));
  await see(() => note() === "Pardon undone. 1 strike restored. The timeout or ban is not repeated." && about().includes("1 strike,") && all(".person .pardon button").length === 2);
});

const isOff = (kind) => find(`#amend-${kind}`).getAttribute("aria-disabled") === "true";

test("card: timeout and ban", async () => {
  const timeout = { banned: false, until: "2026-11-03T12:10:00Z", by: "owner" }, ban = { banned: true, by: "owner" };
  changes(`POST ${spammer}/timeout`, { silenced: timeout, silent_until: timeout.until }, { already: false, silenced: timeout, undo: "timeout" });
  changes(`DELETE ${spammer}/timeout`, {}, { already: false, before: timeout });
  changes(`POST ${spammer}/ban`, { silenced: ban }, { already: false, silenced: ban, undo: "ban" });
  changes(`DELETE ${spammer}/ban`, {}, { already: false, before: ban });
  await openCard();
  await click("#amend-timeout");
  await see(() => find("#timeout-length").value === "10 min");
  await write("#timeout-length", "15d", { leave: false });
  await click(".amend .primary");
  await see(() => text(".amend .error[role=alert]") === "“15d” is not a timeout. Enter 1 second to 14 days, such as 10m, 1h30m or 2d.");
  await write("#act-reason", " spam ", { leave: false });
  await click(button("1 h"));
  await see(() => note().startsWith("Timed out until 12:10") && text(".why").startsWith("Spammer is timed out by owner and may write again in ") && text("#amend-lift") === "End timeout…" && find("#amend-lift .label").dataset.other === "Unban…");
  assert.ok(line("daily").includes("free again now") && !/may write now|next message/.test(about())); // the limit is free, the user isn't
  assert.deepEqual(sent().body, { length: "1h", reason: "spam", replace: false });
  await click(button("Undo"));
  await see(() => note() === "Timeout ended." && isOff("lift") && find("#amend-lift").title === "neither timed out nor banned");
  await click("#amend-ban");
  await see(() => text(".amend p") === "Ban Spammer permanently? They can’t write until you unban them.");
  await click(".amend .primary");
  await see(() => text(".why").startsWith("Spammer is banned by owner.") && isOff("timeout") && isOff("ban") && text("#amend-lift") === "Unban…" && find("#amend-lift .label").dataset.other === "End timeout…");
  find("#amend-timeout").click();
  await see(() => find("#amend-timeout").title === "banned: unban them first" && !find(".amend"));
  await click("#amend-lift");
  await see(() => text(".amend p") === "Unban Spammer? The ban was given by owner.");
  await click(".amend .primary");
  await see(() => note() === "Unbanned." && !isOff("timeout") && !isOff("ban"));
});

test("card: an open form follows what is in force", async () => {
  const theirs = { banned: false, until: "2026-11-03T14:00:00Z", by: "anna" }, ban = { banned: true, by: "anna" };
  const later = { verdict: { ...usual.verdict, at: "2026-11-03T13:00:00Z" } }; // cards loaded after the refusal
  const primary = () => find(".amend .primary"), isEnded = (why) => text(".amend [role=status]") === why && primary().getAttribute("aria-disabled") === "true" && primary().title === why;
  const banned = "In force now: a ban by anna.";
  answer(`POST ${spammer}/timeout`, refuse(409, "the user is timed out", { silenced: theirs }));
  await openCard();
  await click("#amend-timeout");
  await click(".amend .primary");
  await see(() => /^In force now: a timeout by anna until .* Yours would end sooner\.$/.test(text(".amend .error[role=alert]")) && text(primary()) === "Time out anyway");
  isNow({ ...later, silenced: ban });
  await see(() => text(".amend .error[role=alert]") === `${banned} Nothing was changed.` && primary().title === banned);
  const before = requests.length;
  find(".amend").dispatchEvent(new Event("submit", { cancelable: true }));
  assert.deepEqual(requests.slice(before).filter(({ method }) => method !== "GET"), []);
  isNow({ ...later });
  await see(() => text(".amend .error[role=alert]") === "neither timed out nor banned" && !primary().title);

  await click("#amend-ban");
  isNow({ silenced: ban });
  await see(() => isEnded(banned));
  await click("#amend-lift");
  await see(() => text(".amend p").startsWith("Unban Spammer?") && text(primary()) === "Unban" && !primary().title);
  isNow({ silenced: theirs });
  await see(() => text(".amend [role=status]").startsWith("In force now: a timeout by anna") && text(primary()) === "Unban" && text(".amend p").startsWith("Unban Spammer?"));
  isNow({});
  await see(() => isEnded("neither timed out nor banned"));
});

test("card: of a limit that was lowered since, no more is used than it has", async () => {
  await openCard({ limits: [burst, { ...daily, used: 109, capacity: 40, remaining: 0 }] });
  await see(() => line("daily").includes("40 of 40 used (109 written)"));
});
