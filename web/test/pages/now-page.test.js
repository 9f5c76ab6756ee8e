import assert from "node:assert/strict";
import test from "node:test";
import { advance, all, answer, button, click, find, goTo, hangUp, open, pick, press, refuse, requests, see, send, state, text, texts, usualAnswer } from "../../testing/page.js";

const { users: [spammer], status: usualStatus } = usualAnswer("frame");

// user is a throttled user, like the one of the usual answers.
const user = (id, changes = {}) => ({ ...spammer, user_id: String(id), login: `user_${id}`, display_name: "", ...changes });

const sendUsers = (...users) => send({ type: "throttled", users });
const sendStatus = (changes, more) => send({ type: "status", status: { ...usualStatus, ...changes }, ...more });

const inSeconds = (seconds) => new Date(Date.now() + 1000 * seconds).toISOString();

// openWith opens the page with these throttled users.
async function openWith(...users) {
  answer("frame", { ...usualAnswer("frame"), users });
  await open();
}

const row = (id) => `.row[data-user="${id}"]:not(.leaving)`;
const shown = () => all(".row:not(.leaving)").sort((a, b) => a.dataset.index - b.dataset.index).map((one) => text(one.querySelector(".name"))).join(" ");
const figure = (name) => texts(".figures div").find((one) => one.startsWith(name))?.slice(name.length).trim();
const tabs = () => texts(".tab-count").join("/");
const choice = (label) => `select[aria-label="${label}"]`;

test("now: a user appears, and leaves when they may write again", async () => {
  await openWith();
  await see(() => text(".nobody").startsWith("Nobody is throttled."));
  assert.equal(all(".list-bar select").length, 3, "no choice appears later, and moves the others");
  sendUsers(spammer);
  await see(() => find(row(42)));
  assert.equal(text(`${row(42)} .left`), "writes again in 10 min");
  assert.equal(text(`${row(42)} .deed`), "deleting…");
  assert.equal(text(`${row(42)} .said`), "hello everyone");
  await see(() => document.title === "(1) Now · #somechannel · chatguard");
  sendUsers({ ...spammer, may_speak_at: inSeconds(570) });
  await see(() => /in 9 min 3\d s/.test(text(`${row(42)} .left`)));
  sendUsers({ ...spammer, may_speak_at: inSeconds(2) });
  sendStatus({ messages_last_minute: 9, throttled_last_minute: 3, observed_last_minute: 1 });
  await see(() => text(".nobody").includes("Nobody is throttled. 6 messages in the last minute were fine, 2 were throttled, 1 would have been throttled."));
});

test("now: rows and figures agree at each moment", async () => {
  await openWith(...Array.from({ length: 12 }, (_, i) => user(i, { may_speak_at: inSeconds(0.5 + i / 4) })));
  await see(() => find(".row"));
  for (let passed = 0; find(".row"); passed += 50) {
    if (passed % 500 === 0) send({ type: "throttled", users: [], gone: [String(passed / 250)] });
    await advance(50);
    assert.equal(figure("Users throttled now"), String(all(".row:not(.leaving)").length));
    assert.ok(!text("main").includes("in 0 s"));
  }
});

test("now: observed messages don't count as throttled", async () => {
  await openWith();
  sendUsers(user(1, { observed: true, penalty: "none", outcome: { ...spammer.outcome, action: "none", result: "observed" } }));
  sendStatus({ messages_per_second: 2.5, throttled_per_second: 1.5, observed_per_second: 1.5 });
  await see(() => figure("Observed only") === "1" && figure("Messages per second") === "2.5");
  assert.deepEqual([figure("Users throttled now"), figure("Throttled per second")], ["0", "0.0"]);
  assert.equal(texts(".figures dt").at(-1), "Observed only", "a figure that comes and goes moves no other");
  sendUsers(user(2));
  await see(() => figure("Users throttled now") === "1" && figure("Observed only") === "1");
  send({ type: "policy", policy: { ...usualAnswer("frame").policy, in_force: "observe" } });
  await see(() => figure("Would be throttled per second") === "1.5" && !figure("Throttled per second"));
});

const modes = { slow_mode: false, slow_mode_wait_time: 0, follower_mode: false, follower_mode_duration: 0, subscriber_mode: true, emote_mode: false, unique_chat_mode: false };

test("now: while the connection is lost, nothing is said about the present", async () => {
  const channels = [{ ...usualAnswer("frame").channels[0], acts: true, modes }];
  answer("frame", { ...usualAnswer("frame"), channels, users: [] });
  await open();
  await see(() => text(".nobody").startsWith("Nobody is throttled.") && text("#modes .says") === "Subscribers only" && text(".switch-states .muted") === "The usual limits apply.");
  answer("GET /channels", refuse(0));
  hangUp();
  await see(() => /^No data since 12:00:0\d\.$/.test(text(".nobody")));
  assert.deepEqual([text("#modes .says"), find("#modes").title, text(".switch-states .muted")], ["unknown", "Chat modes on Twitch: unknown", text(".nobody")]);
  await click("#modes");
  await see(() => text(".modes-dialog [role=status]").startsWith("It isn't known") && all(".mode [aria-pressed=true]").length === 0);
  await press("Escape");
  answer("GET /channels", usualAnswer("GET /channels"));
  await see(() => text(".nobody").startsWith("Nobody is throttled."));

  sendUsers({ ...spammer, may_speak_at: inSeconds(5) });
  await see(() => find(row(42)));
  answer("GET /channels", refuse(0));
  hangUp();
  await advance(8000);
  await goTo("people"); // and back, so that everything is drawn again
  await see(() => find("#find"));
  await goTo("now");
  await see(() => find(row(42)));
  assert.ok(find(".users.stale"), "by the browser's clock alone, the user may write again");
});

test("now: who may write again stays in the second tab", async () => {
  const berta = user(43, { login: "berta", color: "#0000ff", roles: ["vip", "subscriber"] });
  await openWith(berta);
  await see(() => tabs() === "1/0/1" && find(row(43)));
  assert.equal(text(`${row(43)} .who`), "vip: subscriber: berta");
  assert.match(find(`${row(43)} .name`).style.color, /./);
  sendUsers({ ...berta, held: false });
  await see(() => tabs() === "0/0/1" && !find(row(43)));
  await click(all(".nobody a").find((link) => text(link) === "1 in the last 10 minutes"));
  await see(() => /^\d+ s ago$/.test(text(`${row(43)} .left`)));
  assert.equal(location.hash, "#/now?tab=recent");
  assert.equal(text(`${row(43)} .said`), "hello everyone");
  send({ type: "throttled", users: [], gone: ["43"] });
  await see(() => text(".nobody").startsWith("Nobody was throttled in the last 10 minutes.") && !find(row(43)));
});

test("now: order and filter are in the address bar", async () => {
  const done = (action, result) => ({ outcome: { ...spammer.outcome, action, result, reason: "because" } });
  await openWith(
    user(0, { login: "berta", count: 1, ...done("timeout", "done") }),
    user(1, { login: "anna", count: 2, ...done("delete", "failed") }),
    user(2, { login: "clara", count: 5, ...done("delete", "done") }),
    user(9, { login: "observed", count: 1, limit: "tried", observed: true, penalty: "none", ...done("none", "observed") }),
  );
  await see(() => shown() === "observed clara anna berta");
  for (const [label, value, want, address] of [
    ["Order", "name", "anna berta clara observed", "#/now?sort=name"],
    ["Order", "count", "clara anna observed berta", "#/now?sort=count"],
    ["Order", "newest", "observed clara anna berta", "#/now"],
    ["Show", "observed", "observed", "#/now?show=observed"],
    ["Show", "failed", "anna", "#/now?show=failed"],
    ["Limit", "tried", "", "#/now?show=failed&limit=tried"],
  ]) {
    await pick(choice(label), value);
    await see(() => shown() === want && location.hash === address);
  }
  assert.match(text(".nobody"), /^Nobody matches the filter/);
  await click(button("Show all"));
  await see(() => shown() === "observed clara anna berta" && location.hash === "#/now");
  assert.equal(text(`${row(1)} .chip.failed`), "delete failed");
  assert.ok(find(`${row(1)} .chip svg`));
  await goTo("now?tab=recent&sort=strikes&show=nonsense&limit=gone");
  await see(() => text(".nobody").startsWith("Nobody matches the filter."));
});

test("now: the messages around a throttled one", async () => {
  const said = (user_id, login, of, changes) => ({ at: spammer.at, user_id, login, display_name: "", color: "", roles: [], text: of, entry: 0, throttled: false, observed: false, asked: false, ...changes });
  answer("GET /channels/7/messages", { messages: [said("7", "anna", "before <b>it</b>"), said("42", "spammer", "hello everyone", { throttled: true, asked: true }), said("7", "anna", "")] });
  answer("GET /session", { ...usualAnswer("GET /session"), access: "view" }); // viewers may look, too
  await openWith(spammer);
  await click("#around-of-42");
  await see(() => texts(".around .line").join("|") === "anna: before <b>it</b>|spammer: hello everyone|anna: no text");
  assert.deepEqual(texts(".around .chip"), ["throttled"]);
  assert.equal(text(".around .asked .chip"), "throttled");
  assert.equal(document.activeElement.id, "first-of-42");
  assert.equal(requests.find(({ path }) => path.endsWith("/messages")).query.entry, String(spammer.outcome.entry));
  await press("Escape");
  await see(() => !find(".around") && document.activeElement.id === "around-of-42");
  answer("GET /channels/7/messages", { messages: [] });
  await click("#around-of-42");
  await see(() => text(".around").includes("The messages around it are gone"));
});

const [channel] = usualAnswer("GET /channels").channels;
const sendChannel = (changes) => sendStatus({}, { channels: [{ ...channel, ...changes }] });
const sent = (from) => requests.slice(from).filter(({ path }) => /pause|resume|raid$/.test(path)).map(({ method, path, body }) => [method, path, body].filter(Boolean));

test("switches: pause and resume", async () => {
  answer("POST /channels/7/pause", { saved: true });
  answer("POST /channels/7/resume", { saved: true });
  await open();
  await see(() => text("#pause") === "Pause" && text("#pause-about") === "Pause stops throttling until you resume." && texts(".states .state.good")[0] === "Enforcing");
  const before = requests.length;
  await click("#pause");
  sendChannel({ paused_by: "link:berta" });
  send({ type: "policy", policy: { ...usualAnswer("frame").policy, in_force: "observe" } });
  await see(() => text("#pause") === "Resume" && text("#pause-about") === "Paused by berta (link): nobody is throttled.");
  assert.equal(text(".states .state.notice"), "Observing nobody is throttled");
  assert.equal(find("#pause").getAttribute("aria-describedby"), "pause-about");
  await goTo("limits"); // the stated policy is edited
  await see(() => find("input[value=enforce]").checked && text(".effect").includes("Not enforcing right now"));
  await goTo("now");
  await see(() => find("#pause"));
  find("#pause").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 })); // the second click of a double click
  await click("#pause");
  sendChannel({});
  await see(() => text("#pause") === "Pause");
  assert.deepEqual(sent(before), [["POST", "/channels/7/pause"], ["POST", "/channels/7/resume"]]);
});

test("switches: raid mode lasts as long as chosen", async () => {
  answer("POST /channels/7/raid", { saved: true, until: "2026-11-03T13:00:00Z" });
  answer("DELETE /channels/7/raid", { saved: true });
  await open();
  await see(() => text("#raid-about").startsWith("Raid mode makes the limits stricter for a while"));
  assert.equal(text(find("#raid-length").selectedOptions[0]), "10 min");
  const before = requests.length;
  await click("#raid");
  await pick("#raid-length", "1h");
  await click("#raid");
  sendChannel({ raid_until: "2026-11-03T13:00:00Z" });
  await see(() => text("#raid") === "End raid mode" && text("#raid-about") === "Raid mode until 13:00:00: stricter limits." && find("#raid-length").disabled);
  await click("#raid");
  sendChannel({});
  await see(() => text("#raid") === "Start raid mode");
  assert.deepEqual(sent(before), [["POST", "/channels/7/raid"], ["POST", "/channels/7/raid", { for: "1h" }], ["DELETE", "/channels/7/raid"]]);
});

test("switches: what a restart would undo, and what failed", async () => {
  const failing = { state: "failing", detail: "disk full", lag_seconds: 60 };
  answer("POST /channels/7/pause", { saved: false });
  answer("POST /channels/7/raid", refuse(503, "Nothing was changed: the database is failing."));
  await open();
  sendStatus({ database: failing });
  await click("#pause");
  await click("#raid");
  await see(() => text("#pause-unsaved") === "In force, but not saved yet: a restart now would undo it.");
  await see(() => text("#raid-problem") === "Nothing was changed: the database is failing.");
  assert.ok(!find("#raid-unsaved") && !find("#pause-problem"));
  await press("Escape");
  await see(() => !find("#raid-problem") && find("#pause-unsaved"));
  answer("POST /channels/7/raid", { saved: false });
  await click("#raid");
  await see(() => find("#raid-unsaved") && find("#pause-unsaved"));
  await advance(1000);
  sendStatus({});
  await see(() => !find("#pause-unsaved") && !find("#raid-unsaved"));
});

test("switches: viewers see the state", async () => {
  answer("GET /session", { ...usualAnswer("GET /session"), access: "view" });
  await open();
  const states = () => texts(".switch-states [role=status]");
  await see(() => states().join("|") === "||");
  sendChannel({ paused_by: "berta", raid_until: "2026-11-03T13:00:00Z" });
  await see(() => states().join("|") === "Paused by berta: nobody is throttled.|Raid mode until 13:00:00: stricter limits.|");
  sendChannel({ paused_by: "token:berta", raid_until: "2026-11-03T13:00:00Z", raid_by: "twitch:kim", modes, modes_by: "link:mia" });
  await see(() => states().join("|") === "Paused by berta (token): nobody is throttled.|Raid mode until 13:00:00, by kim on Twitch: stricter limits.|Chat modes last changed by mia (link).");
  assert.deepEqual(all(".switch-state").map(({ title }) => title), states());
  sendChannel({ raid_until: "2026-11-03T13:00:00Z", raid_by: "chatguard", modes }); // they were changed on Twitch
  await see(() => states().join("|") === "|Automatic raid mode until 13:00:00: stricter limits.|");
  sendChannel({ modes: { ...modes, subscriber_mode: false }, modes_by: "link:mia" });
  await see(() => states().join("|") === "||" && text(".switch-states .muted") === "The usual limits apply.");
  assert.ok(!find(".switches"));
  sendStatus({ switches: false });
  await see(() => !find(".switch-states"));
});

test("switches: the line below them says which limits apply, if the channel is read", async () => {
  await openWith();
  const says = () => text(".switch-states .muted");
  await see(() => says() === "The usual limits apply.");
  send({ type: "policy", policy: { ...usualAnswer("frame").policy, in_force: "observe" } });
  await see(() => says() === "chatguard only observes: nobody is throttled.");
  sendChannel({ raid_until: "2026-11-03T13:00:00Z", raid_by: "berta" });
  await see(() => text("#raid-about") === "Raid mode until 13:00:00; chatguard only observes.");
  sendChannel({});
  await see(() => says() !== "");
  for (const reason of ["joining", "banned"]) {
    sendChannel({ unread: { reason } });
    await see(() => find(".switch-states") && says() === "");
    sendChannel({});
    await see(() => says() !== "");
  }
  sendChannel({ paused_by: "berta" });
  await see(() => !find(".switch-states .muted") && text("#pause-about") === "Paused by berta: nobody is throttled.");
});

test("now: without a connection to the chat, no messages are seen", async () => {
  await openWith();
  for (const [reason, isCutOff] of [["joining", true], ["unreachable", true], [undefined, false], ["banned", true]]) {
    sendChannel({ unread: reason && { reason } });
    await see(() => text(".nobody").includes("Not connected to chat: chatguard sees no messages.") === isCutOff);
  }
});

test("now: the most throttled users are marked as timed out only while they are", async () => {
  const [user] = usualAnswer("frame").users, top = usualAnswer("GET /channels/7/top");
  const ranked = (user_id, more) => ({ user_id, login: `user_${user_id}`, display_name: "", throttled: 4, observed: 0, timed_out: 1, banned: 0, ...more });
  answer("GET /channels/7/top", { ...top, throttled: { ...top.throttled, messages: 12, top: [ranked("42", {}), ranked("43", {}), ranked("44", { banned: 1 })] } });
  answer("frame", { ...usualAnswer("frame"), users: [{ ...user, silenced: { banned: false, until: "2026-11-03T12:00:10Z", by: "chatguard" } }] });
  await open();
  const marks = () => texts(".top .chip").join();
  await see(() => marks() === "timed out,was timed out,was banned");
  await advance(11_000);
  await see(() => marks() === "was timed out,was timed out,was banned");
});
