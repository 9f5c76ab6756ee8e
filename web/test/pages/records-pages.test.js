import assert from "node:assert/strict";
import test from "node:test";
import { all, answer, button, click, find, goTo, open, pick, refuse, requests, see, text, texts, usualAnswer, write } from "../../testing/page.js";

const [usual] = usualAnswer("GET /journal").entries;
const everyChange = usualAnswer("every change");
const entry = (id, login, more = {}) => ({ ...usual, id, user_id: String(id), login, display_name: "", ...more });
const outcome = (result, reason = "") => ({ ...usual.outcome, result, reason });
const entries = () => texts(".entries .entry").map((row) => row.replace(/^[\d:]+ ?/, ""));
const users = () => texts(".entry .user").join();
const asked = (path) => requests.findLast((request) => request.path === path).query;
const isNow = (...rows) => answer("GET /journal", { entries: rows, more: false });

// openAs opens a page with an access.
async function openAs(access, page) {
  answer("GET /session", { ...usualAnswer("GET /session"), access, all: access });
  await open(page);
  await see(() => find(".entry, .audit, .none"));
}

test("journal: filters in the address bar", async () => {
  isNow(entry(2, "teahouse", { outcome: outcome("done") }), entry(1, "gardenhour", { outcome: outcome("failed", "the bot is no moderator here") }));
  await openAs("own", "journal");
  await see(() => entries().length === 2 && entries()[1].includes("delete failed the bot is no moderator here"));
  assert.deepEqual(all(".entry .deed").map(({ title }) => title), ["deleted", "delete failed: the bot is no moderator here"]);
  assert.deepEqual(asked("/journal"), { channel: "7", n: "100" });

  isNow();
  await click("#only-failures");
  await see(() => location.hash === "#/journal?result=failed" && text(".none") === "No throttled messages match these filters." && find("#filter-result").value === "failed");
  assert.deepEqual(asked("/journal"), { channel: "7", result: "failed", n: "100" });
  const steps = history.length;
  await write("#filter-name", "長", { leave: false });
  await see(() => location.hash === "#/journal?name=%E9%95%B7&result=failed" && asked("/journal").name === "長");
  assert.equal(history.length, steps, "what is typed is no step of the history");
  assert.equal(document.activeElement.id, "filter-name");
  await write("#filter-name", "");
  await click("#only-failures");
  await see(() => location.hash === "#/journal");
  await see(() => texts("#filter-limit option").join() === "all,burst,daily");
  for (const [name, value, hash] of [["limit", "daily", "limit=daily"], ["action", "delete", "limit=daily&action=delete"], ["result", "done", "limit=daily&action=delete&result=done"]]) {
    await pick(`#filter-${name}`, value);
    await see(() => location.hash === `#/journal?${hash}` && asked("/journal")[name] === value);
  }
  await see(() => find(".export[download]").getAttribute("href") === "api/v1/journal?channel=7&limit=daily&action=delete&result=done&format=csv");

  isNow(entry(72, "teahouse"));
  await goTo("journal?user=72&action=delete&limit=gone"); // as from a link that somebody sent
  await see(() => users() === "teahouse" && find("#filter-action").value === "delete" && find("#filter-limit").value === "gone" && find("#filter-name").value === "72");
  assert.deepEqual(asked("/journal"), { channel: "7", user: "72", limit: "gone", action: "delete", n: "100" });
  await write("#filter-name", "tea");
  await see(() => asked("/journal").name === "tea" && !asked("/journal").user);
  await see(() => find(".entry .user a").getAttribute("href") === "#/people?user=72");
});

test("journal: new entries wait to be shown", async () => {
  isNow();
  await openAs("own", "journal");
  await see(() => text(".none") === "No throttled messages yet. Each one is listed here with what was done about it.");
  const first = entry(1, "gardenhour");
  isNow(first);
  await see(() => users() === "gardenhour" && entries()[0].includes("deleting…")); // at once: the page was empty
  isNow(entry(3, "teahouse"), entry(2, "teahouse"), { ...first, outcome: outcome("failed", "Twitch said no") });
  await see(() => text(".fresh") === "Show 2 new" && entries()[0].includes("delete failed Twitch said no"));
  assert.equal(users(), "gardenhour");
  await click(".fresh button");
  await see(() => users() === "teahouse,teahouse,gardenhour" && !find(".fresh button") && document.activeElement === find(".entry .text-button"));

  answer("GET /journal", { entries: Array.from({ length: 100 }, (_, i) => entry(200 - i, "owl")), more: true });
  await see(() => text(".fresh") === "Show more than 100 new");
  await click(".fresh button");
  await see(() => entries().length > 3 && !users().includes("gardenhour"));
});

test("journal: older entries", async () => {
  answer("GET /journal", ({ query: { before } }) => ({ entries: Array.from({ length: before ? 3 : 4 }, (_, i) => entry((before ? 3 : 7) - i, "owl")), more: !before }));
  await openAs("own", "journal");
  await click(button("Load older"));
  await see(() => find(".entries").getAttribute("aria-rowcount") === "8" && text(".more") === "No older records.");
  assert.equal(requests.findLast(({ query }) => query.before).query.before, "4");
  assert.deepEqual(all(".entry").map((row) => row.getAttribute("aria-rowindex")), ["2", "3", "4", "5", "6", "7", "8"]);
});

test("journal: only the rows on the screen are drawn", async () => {
  answer("GET /journal", { entries: Array.from({ length: 100 }, (_, i) => entry(100 - i, "owl")), more: false });
  await openAs("own", "journal");
  await see(() => find(".entries").getAttribute("aria-rowcount") === "101");
  assert.ok(all(".entry").length < 60);
});

test("journal: a whole message", async () => {
  const words = "so many words ".repeat(30) + "the end";
  isNow(entry(1, "nagai", { display_name: "長い", text: words, cost: 2, pardoned: { by: "link:berta", at: usual.at } }), entry(2, "late", { text: "" }));
  await openAs("own", "journal");
  await see(() => entries().length === 2);
  assert.ok(!entries()[0].includes("the end"));
  await click(".text-button");
  await see(() => find("dialog").open && text(".whole-text") === words);
  assert.deepEqual(texts("dialog dl > div"), ["Sent 12:00:00", "User nagai, ID 1", "Limit burst, cost 2", "May write again 12:10:00", "Strikes 1", "Penalty delete the message", "Action deleting…", "Pardoned by berta (link), 12:00:00"]);
  assert.ok(!find("dialog .pardon button"));
  await click(all("dialog .buttons button").at(-1));
  await see(() => !find("dialog"));
  await goTo("journal?entry=1"); // as from a link to the message
  await see(() => find("dialog")?.open && text(".one-message").startsWith("A single message is shown."));
});

test("journal: a message that repeats a text too often says how often, and that only the same one waits", async () => {
  isNow(entry(1, "nagai", { limit: "copy-paste", repeats: { times: 4, people: 37, window: "30s" } }));
  await openAs("own", "journal");
  await see(() => entries().length === 1);
  assert.deepEqual([text(".repeated"), find(".repeated").title], ["4×, 37 people", "They wrote it 4 times in 30 seconds; 37 people did in 10 minutes"]);
  await click(".text-button");
  await see(() => find("dialog")?.open);
  assert.deepEqual(texts("dialog dl > div").slice(2, 5), ["Limit copy-paste", "Repeated They wrote it 4 times in 30 seconds; 37 people did in 10 minutes", "May be written again 12:10:00"]);
});

test("journal: a pardon, its undo and whose it is", async () => {
  isNow(entry(2, "teahouse"), entry(1, "gardenhour", { pardoned: { by: "token:berta", at: usual.at } }));
  answer("POST /journal/2/pardon", { saved: true, pardon: 9, undo_until: "2026-11-03T12:05:00Z" });
  answer("DELETE /channels/7/users/2/pardon/9", refuse(409, "The pardon can't be undone any more."));
  await openAs("own", "journal");
  await see(() => all(".pardon button").length === 1);
  assert.deepEqual([text("span.pardon.muted"), find("span.pardon.muted").title], ["Pardoned by berta (token), 12:00:00", "by berta (token), 12:00:00"]);
  await click(".pardon button");
  await see(() => text(document.activeElement) === "Undo" && text(".pardon .answer") === "Pardoned");
  await click(".pardon button");
  await see(() => text(".pardon .bad") === "The pardon can't be undone any more." && text(".pardon button") === "Undo");
});

test("journal: viewers pardon nothing", async () => {
  isNow(entry(2, "teahouse"));
  await openAs("view", "journal");
  await click(".text-button");
  await see(() => find("dialog").open);
  assert.equal(all(".pardon button, .forgive").length, 0);
});

test("journal: without an answer", async () => {
  answer("GET /journal", refuse(503, "the database is failing"));
  await open("journal");
  await see(() => text("main .error") === "the database is failing");
  assert.ok(!find(".none"));
});

test("audit: what a change was", async () => {
  const policy = usualAnswer("GET /channels/7/policy");
  const revision = { channel: "7", number: 1, author: "owner", at: usual.at, policy, changes: [], difference: [{ key: "limit.burst.burst", from: 3, to: 7 }], discarded: false, saved: true };
  answer("GET /channels/7/policy/revisions", { revisions: [revision], more: false });
  answer("GET /audit", everyChange);
  await openAs("own", "audit");
  await see(() => all(".audit").length === everyChange.changes.length && text(".audit").includes("→"));
  assert.deepEqual(all(".audit").map((row) => [...row.children].slice(1).map(text).join(" ")), [
    "changed the limits channel revision 1 burst: messages at once 3 → 7",
    "ended a token all channels berta",
    "made a token all channels berta, helper",
    "ended raid mode channel the usual limits apply again",
    "started raid mode channel until 12:10:00",
    "paused channel nobody is throttled until somebody resumes",
    "switched chat modes channel Followers only (10 min): on, Emotes only: off",
    "switched chat modes channel Slow mode (30 s): on",
    "deleted a note Spammer by owner",
    "added a note Spammer ",
    "banned Spammer until unbanned",
    "lifted Spammer a timeout by owner",
    "timed out Spammer for 10 min: spam",
    "set custom limits Spammer never exempt; time zone Asia/Tokyo; burst: 9 at once, one more every 2 seconds, before: exempt from all limits",
    "exempted Spammer from all limits, permanently",
    "exempted Spammer from all limits until 13:00:00",
    "reset Spammer usage and strikes cleared",
    "pardoned Spammer “hello everyone” 1 message",
    "granted messages Spammer 10 extra in daily until Wed 4 Nov, 00:00:00",
    "undid a pardon Spammer “hello everyone” 1 message, 1 strike restored",
    "pardoned Spammer “hello everyone” 1 message, 1 strike removed",
  ].map((words) => `owner ${words}`));
});

test("audit: revisions are fetched as the rows need them", async () => {
  const [change] = everyChange.changes.filter(({ action }) => action === "policy");
  const rows = [120, 119, 40, 2].map((revision, i) => ({ ...change, id: 9 - i, detail: { revision } }));
  const policy = usualAnswer("GET /channels/7/policy"), asked = [];
  answer("GET /audit", { changes: rows, more: false });
  answer("GET /channels/7/policy/revisions", ({ query: { before } }) => {
    asked.push(before);
    const revisions = [120, 119, 40].filter((number) => number < before && number > before - 50); // 2 was deleted
    return { revisions: revisions.map((number) => ({ channel: "7", number, author: "owner", at: usual.at, policy, changes: [], difference: [{ key: "limit.burst.burst", from: 3, to: number }], discarded: false, saved: true })), more: true };
  });
  await openAs("own", "audit");
  await see(() => text(".audits").includes("3 → 40") && asked.length === 3);
  assert.deepEqual(all(".audit .what").map(text), ["revision 120 burst: messages at once 3 → 120", "revision 119 burst: messages at once 3 → 119", "revision 40 burst: messages at once 3 → 40", "revision 2"]);
  assert.deepEqual(asked, ["121", "41", "3"]);
});

test("audit: filters in the address bar", async () => {
  answer("GET /audit", { changes: [], more: false });
  await openAs("view", "audit");
  await see(() => text(".none") === "No changes yet. Pardons, changed limits and notes are listed here with their author.");
  await pick("#filter-action", "policy");
  await write("#filter-author", "berta");
  await write("#filter-name", "GardenHour");
  await see(() => location.hash === "#/audit?author=berta&action=policy&name=GardenHour" && asked("/audit").name && text(".none") === "No changes match these filters.");
  assert.deepEqual(asked("/audit"), { channel: "7", author: "berta", action: "policy", name: "GardenHour", n: "100" });
  await see(() => find(".export[download]").getAttribute("href") === "api/v1/audit?channel=7&author=berta&action=policy&name=GardenHour&format=csv");
  await pick("#filter-action", "");
  await see(() => location.hash === "#/audit?author=berta&name=GardenHour");
  answer("GET /audit", { changes: everyChange.changes.filter(({ action }) => action === "reset"), more: false });
  await goTo("audit?user=71&action=reset");
  await see(() => find(".audit .user a")?.getAttribute("href") === "#/people?user=42" && find("#filter-name").value === "71");
  assert.deepEqual(asked("/audit"), { channel: "7", action: "reset", user: "71", n: "100" });
});
