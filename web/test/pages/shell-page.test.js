import assert from "node:assert/strict";
import test from "node:test";
import { advance, all, answer, button, click, find, goTo, hangUp, open, press, refuse, requests, see, send, state, text, texts, usualAnswer, withTag, write } from "../../testing/page.js";
import { feeds } from "../../testing/server.js";

const { status: usualStatus, policy: usualPolicy, users: [spammer] } = usualAnswer("frame");
const [channel] = usualAnswer("GET /channels").channels;
const second = { ...channel, id: "8", login: "second" };

const sendStatus = (changes, more) => send({ type: "status", status: { ...usualStatus, ...changes }, ...more });
const failing = { state: "failing", detail: "disk full" };
const states = (kind) => texts(`.states .state.${kind}`);
const word = () => text("header .status .word");

test("sign-in: a used link, a wrong token, a right one", async () => {
  answer("GET /session", refuse(401, "Sign in first."));
  answer("POST /session", refuse(401, "This link has been used or is too old."));
  location.hash = "#signin=old-code";
  await see(() => text("#token-error") === "This link has been used or is too old.");
  assert.equal(location.hash, "#/now");
  assert.deepEqual(requests.find(({ method }) => method === "POST").body, { code: "old-code" });
  assert.match(text("main"), /Run chatguard signin on chatguard’s server/);
  answer("POST /session", refuse(401, "This token is unknown, was revoked or has expired."));
  await write("#token", "wrong");
  await click(".primary");
  await see(() => text("#token-error").startsWith("This token is unknown"));
  for (const request of ["GET /session", "POST /session"]) answer(request, usualAnswer(request));
  await click(".primary");
  await see(() => find(".users"));
  assert.deepEqual(requests.findLast(({ method }) => method === "POST").body, { token: "wrong" });
});

test("sign-out: a failure is shown", async () => {
  answer("DELETE /session", refuse(503, "The database is failing."));
  await open();
  await click("#sign-out");
  await see(() => text(".banner") === "You are still signed in. The database is failing." && find(".users"));
  answer("DELETE /session", null);
  await click("#sign-out");
  await see(() => find("#token") && !find(".users"));
});

test("session: ended elsewhere", async () => {
  await open();
  hangUp(4401);
  await see(() => text(".banner") === "Signed out: your link or token was revoked or has expired. Sign in again." && document.activeElement.id === "token");
});

test("session: the page tries again while sessions can't be checked", async () => {
  answer("GET /session", refuse(503, "Sign-ins can't be checked now: the database is failing."));
  location.hash = "#signin=code";
  await see(() => text("#token-error").startsWith("Sign-ins can't be checked now"));
  answer("GET /session", usualAnswer("GET /session"));
  await see(() => find(".users"));
});

test("header: who is signed in", async () => {
  for (const [name, access, want] of [["gardenhour", "view", "gardenhour · view only"], ["gardenhour", "moderate", "gardenhour · moderator"], ["gardenhour", "own", "gardenhour · owner"], ["owner", "own", "owner"]]) {
    answer("GET /session", { ...usualAnswer("GET /session"), name, access });
    await open();
    await see(() => text(".me") === want);
  }
});

test("header: every state, also one that the page doesn't know", async () => {
  await open();
  await see(() => word() === "All good");
  sendStatus({ connections: [
    { name: "Twitch", state: "connected" }, { name: "Helix", state: "low", detail: "12 of 800 points left" }, { name: "Moon", state: "waxing" },
    { name: "Certificate", state: "not renewed", detail: "it expires soon" },
    { name: "Token", state: "refused", detail: "Twitch refused the token: run `chatguard login`" },
    { name: "#somechannel", state: "renamed", detail: "is called otherchannel" }, { name: "#one", state: "not read", detail: "no such channel" }, { name: "#two", state: "not enforcing" },
    { name: "#somechannel", state: "observing", detail: "type `/mod chatguard_bot` in the chat" }, { name: "#somechannel", state: "paused", detail: "by berta" },
  ] });
  await see(() => word() === "6 problems");
  assert.deepEqual(states("good"), ["Enforcing", "Twitch connected", "Database ok"]);
  assert.deepEqual(states("warn"), ["Twitch API low 12 of 800 points left", "Certificate not renewed it expires soon", "#somechannel renamed is called otherchannel"]);
  assert.deepEqual(states("off"), ["Moon waxing"]);
  assert.deepEqual(states("bad"), ["Token refused Twitch refused the token: run chatguard login", "#one not read no such channel", "#two not enforcing"]);
  assert.deepEqual(states("notice"), ["#somechannel observing type /mod chatguard_bot in the chat", "#somechannel paused by berta"]);
  assert.deepEqual(texts(".states code"), ["chatguard login", "/mod chatguard_bot"]);
});

for (const page of ["now", "limits"]) {
  test(`channels: the page ${page} waits for the first one`, async () => {
    answer("GET /channels", { channels: [] });
    answer("frame", { ...usualAnswer("frame"), channel: "", channels: [], users: [], policy: null, status: { ...usualStatus, database: failing, shared: { mode: "exact", up: false } } });
    await open(page);
    await see(() => text("main").includes("Joining the channel on Twitch…") && text("header .channel") === "no channel");
    assert.match(text(".database-note"), /disk full/);
    assert.match(text(".shared-note"), /^The shared store is away/);
    answer("frame", usualAnswer("frame"));
    sendStatus({}, { channels: [channel] });
    await see(() => text("header .channel") === "#somechannel" && states("good").includes("Enforcing"));
    await see(() => (page === "now" ? find(".users") : find("#burst-0")?.value === "3"));
  });
}

// waitFor answers as chatguard does while it knows the ID of no channel.
function waitFor(unidentified, changes) {
  answer("GET /channels", { channels: [], unidentified });
  answer("frame", { ...usualAnswer("frame"), channel: "", channels: [], unidentified, users: [], policy: null, status: { ...usualStatus, ...changes } });
}

const cutOff = { connections: [{ name: "Twitch", state: "disconnected", detail: "no such host; connecting again in 5.4s" }] };

test("channels: none is known without Twitch, and the placeholder says what to do", async () => {
  const noAddress = { reason: "no address", detail: "lookup irc.chat.twitch.tv: no such host" };
  waitFor([{ login: "one", ...noAddress }, { login: "two", ...noAddress }], cutOff);
  for (const page of ["now", "limits", "people", "journal", "audit"]) {
    await open(page);
    await see(() => texts("main .headline").join() === "Twitch can’t be reached: its address wasn’t found (DNS).");
    assert.match(text("main"), /the network, DNS and firewall .* Run chatguard doctor there .* chatguard keeps trying\. lookup irc\.chat\.twitch\.tv: no such host$/);
    assert.equal(text("header .channel"), "#one, #two");
  }
  answer("frame", usualAnswer("frame"));
  sendStatus({}, { channels: [channel] });
  await see(() => text("header .channel") === "#somechannel" && text("main").includes("No changes yet."));
});

test("channels: each reason has its own words", async () => {
  for (const [reason, what, todo] of [
    ["joining", "Joining the channel on Twitch…", "This takes a few seconds."],
    ["no channel", "There is no channel #nosuch on Twitch, or it is suspended.", "Correct twitch.channels in chatguard.toml, then run chatguard reload."],
    ["banned", "The bot is banned in #nosuch.", "Ask the broadcaster to unban the bot. chatguard then joins by itself."],
    ["no token", "The bot isn’t connected yet. Chat can’t be read over EventSub without it.", "Connect the bot in the setup checklist, or run chatguard login on the computer that runs chatguard."],
    ["other", "Twitch doesn’t let chatguard into #nosuch.", "Run chatguard doctor on the computer that runs chatguard to see what fails. why"],
  ]) {
    waitFor([{ login: "nosuch", reason, detail: "why" }]);
    await open();
    await see(() => text("main .waiting") === `${what} ${todo}`);
  }
  waitFor([{ login: "nosuch", reason: "no channel" }, { login: "den", reason: "banned" }]);
  await open();
  await see(() => texts("main .waiting .headline").join() === "There is no channel #nosuch on Twitch, or it is suspended.,The bot is banned in #den.");
});

test("channels: people who may not see all of them know only that Twitch is cut off", async () => {
  waitFor(undefined, cutOff);
  await open();
  await see(() => text("main .headline") === "Twitch can’t be reached." && text("header .channel") === "no channel");
});

test("channels: one of two isn't known", async () => {
  const unidentified = [{ login: "nosuch", reason: "no channel" }];
  answer("GET /channels", { channels: [channel], unidentified });
  answer("frame", { ...usualAnswer("frame"), unidentified });
  await open();
  await see(() => texts("header .channel option").join() === "#somechannel,#nosuch not read");
  assert.deepEqual(all("header .channel option").map((option) => option.disabled), [false, true]);
  assert.equal(text(".unread-note"), "");
});

test("channels: a known one isn't read", async () => {
  const cut = (unread) => sendStatus(unread && cutOff, { channels: [{ ...channel, unread }] });
  await open();
  await see(() => find(".users"));
  cut({ reason: "joining" });
  cut({ reason: "unreachable", detail: "connection refused" });
  await see(() => text(".unread-note [role=status]").startsWith("#somechannel isn’t being read. Twitch can’t be reached. Check status.twitch.tv") && find(".users"));
  assert.equal(text(".unread-note .muted"), "connection refused");
  cut({ reason: "joining" });
  await see(() => text(".unread-note") === "");
  cut({ reason: "banned", detail: "You are permanently banned" });
  await see(() => text(".unread-note") === "#somechannel isn’t being read. The bot is banned in #somechannel. Ask the broadcaster to unban the bot. chatguard then joins by itself.");
  cut();
  await see(() => text(".unread-note") === "");
});

test("channels: one of several, in the address", async () => {
  answer("GET /channels", { channels: [channel, second] });
  const frame = (id) => ({ ...usualAnswer("frame"), channel: id, channels: [channel, second], users: id === "7" ? [spammer] : [] });
  answer("frame", frame("7"));
  for (const path of ["policy", "policy/revisions", "settings", "overrides", "summary", "top"]) answer(`GET /channels/8/${path}`, usualAnswer(`GET /channels/7/${path}`));
  answer("POST /channels/8/preview", usualAnswer("POST /channels/7/preview"));
  await open();
  await see(() => find(".row"));
  answer("frame", frame("8"));
  await goTo("now?channel=8");
  await see(() => !find(".row") && find(".channel select").value === "8");
  assert.deepEqual([...feeds].map(({ address }) => new URL(address).searchParams.get("channel")), ["8"]);
  await click('nav a[href^="#/limits"]');
  await see(() => location.hash === "#/limits?channel=8" && find("#burst-0"));
  const policy = usualAnswer("GET /channels/7/policy");
  answer("PUT /channels/8/policy", ({ body }) => withTag('"new"', { channel: "8", number: 1, author: "link:anna", at: "2026-11-03T12:00:00Z", policy: body, changes: [], difference: [], saved: true }));
  await write("#burst-0", "5");
  await click(".finish .primary");
  await see(() => text(".note.good").startsWith("Saved by anna (link)"));
  assert.equal(requests.find(({ path, method }) => path === "/channels/8/policy" && method === "PUT").body.limits[0].burst, 5);

  answer("GET /channels", { channels: [channel] }); // the second is no longer served
  answer("frame", { ...frame("7"), channels: [channel] });
  await goTo("now?channel=8");
  hangUp();
  await see(() => text("main").includes("There is no channel at this address that you can open.") && text("header .channel") === "#somechannel");
  await click("main a");
  await see(() => find(".row") && location.hash === "#/now");
  assert.deepEqual([...feeds].map(({ address }) => new URL(address).searchParams.get("channel")), ["7"]);
});

test("feed: too many are open", async () => {
  await open();
  answer("GET /channels", refuse(0));
  hangUp(4429, "20 live feeds are open under your name: close another dashboard page");
  await see(() => text(".lost").startsWith("No live updates. 20 live feeds are open under your name: close another dashboard page."));
  const before = requests.length;
  await click(".lost button"); // without a wait
  await see(() => !find(".lost"));
  assert.ok(!requests.slice(before).some(({ path }) => path === "/channels"));
});

test("feed: lost, and followed again", async () => {
  await open();
  await see(() => find(".row"));
  answer("GET /channels", refuse(0));
  hangUp();
  await see(() => text(".lost strong") === "Connection lost." && word() === "Disconnected");
  assert.match(text(".lost p"), /Showing data from 12:00:0\d\. Reconnecting…/);
  assert.ok(find(".row"), "what was known stays");
  answer("frame", { ...usualAnswer("frame"), users: [{ ...spammer, user_id: "43", display_name: "meanwhile" }] });
  answer("GET /channels", usualAnswer("GET /channels"));
  await see(() => !find(".lost") && text(".row .name") === "meanwhile" && all(".row:not(.leaving)").length === 1);
  const [{ address }] = feeds;
  const { after, feed } = Object.fromEntries(new URL(address).searchParams);
  assert.ok(after > 0 && feed, "it asks for what it has missed");
  await advance(6000); // a silent connection is a dead one
  await see(() => requests.filter(({ path }) => path === "/channels").length > 2);
});

test("journal: asked again when chatguard is too busy", async () => {
  const real = fetch;
  let asked = 0;
  globalThis.fetch = async (...of) => (of[0].includes("/journal") && asked++ === 0 ? Response.json({ detail: "Too busy." }, { status: 429, headers: { "Retry-After": "1" } }) : real(...of));
  try {
    await open("journal");
    await see(() => text(".entry")?.includes("hello everyone"));
    assert.equal(asked, 2);
  } finally {
    globalThis.fetch = real;
  }
});

test("ids: rooms and users of servers have no prefix", async () => {
  const lobby = { ...channel, id: "check:lobby", login: "lobby" };
  const renamed = (body) => JSON.parse(JSON.stringify(body).replaceAll('"7"', '"check:lobby"').replaceAll('"42"', '"check:41"').replaceAll('"spammer"', '"41"').replaceAll('"Spammer"', '""'));
  for (const path of ["users/42", "users/42/notes", "summary", "top", "policy", "policy/revisions"]) answer(`GET /channels/check%3Alobby/${path.replace("42", "check%3A41")}`, renamed(usualAnswer(`GET /channels/7/${path}`)));
  answer("GET /channels/check%3Alobby/users/check%3A41/week", refuse(503, "The database is failing."));
  answer("GET /channels", { channels: [lobby] });
  for (const request of ["GET /users", "GET /journal"]) answer(request, renamed(usualAnswer(request)));
  answer("GET /audit", { changes: [{ id: 1, at: "2026-11-03T12:00:00Z", author: "owner", action: "grant", channel: "check:lobby", user_id: "check:41", login: "41", display_name: "", detail: { limit: "burst", messages: 2 } }], more: false });
  answer("frame", { ...renamed(usualAnswer("frame")), channels: [lobby] });
  await open();
  const plain = () => !text("body").includes("check:");
  await see(() => text("header .channel") === "#lobby" && text(".who a") === "41" && plain());
  await goTo("people?user=check%3A41");
  await see(() => text(".person h2") === "41" && text(".person").includes("ID 41") && plain());
  await goTo("journal");
  await click(".entry .text-button");
  await see(() => text("dialog").includes("ID 41") && plain());
  await goTo("audit");
  await see(() => text(".audit .user bdi") === "41" && plain());
});

test("keys: pages and dialogs", async () => {
  await open();
  for (const [key, page] of [["l", "limits"], ["p", "people"], ["j", "journal"], ["a", "audit"], ["n", "now"]]) {
    await press("g", "body");
    await press(key, "body");
    await see(() => location.hash === `#/${page}`);
  }
  await press("g", "body");
  await advance(1100); // too late
  await press("l", "body");
  await press("?", "body");
  await see(() => find("dialog")?.getAttribute("aria-label") === "Keyboard shortcuts");
  assert.equal(state.route, "now");
});

test("palette: commands and users", async () => {
  answer("POST /channels/7/raid", { saved: true });
  await open();
  await click("#open-palette");
  const isOpen = () => find("dialog")?.getAttribute("aria-label") === "Command palette";
  await see(isOpen);
  await write("[role=combobox]", "spam", { leave: false });
  await see(() => text("#palette-entries [aria-selected=true]") === "Spammer user");
  assert.equal(requests.findLast(({ path }) => path === "/users").query.q, "spam");
  await write("[role=combobox]", "raid", { leave: false });
  await see(() => text("#palette-entries [aria-selected=true]").startsWith("Start raid mode"));
  await press("Enter", "[role=combobox]");
  await see(() => requests.some(({ path }) => path === "/channels/7/raid"));
});

test("alerts: only what begins, on this browser's wish", async () => {
  const shown = [];
  globalThis.Notification = class {
    static permission = "default";
    static requestPermission = async () => (this.permission = "granted");
    constructor(_, { body }) {
      shown.push(body);
    }
  };
  const icon = () => find("#favicon").getAttribute("href");
  answer("frame", { ...usualAnswer("frame"), users: [], status: { ...usualStatus, database: failing } });
  await open();
  await see(() => icon() === "favicon-alert.svg");
  await click("#open-alerts");
  await see(() => find("#alert-test")?.disabled);
  await click("#alert-notify");
  await click("#alert-many");
  await click("#alert-test");
  await write("#alert-count", "0");
  await see(() => text("#alert-count-error") === "Enter a whole number from 1 to 10,000.");
  await write("#alert-count", "2");
  await see(() => text("#alert-count-error") === "");
  sendStatus({});
  await see(() => icon() === "favicon.svg");
  send({ type: "throttled", users: [spammer, { ...spammer, user_id: "43" }] });
  await see(() => shown.at(-1) === "2 users are throttled.");
  sendStatus({ database: failing });
  await see(() => shown.at(-1) === "Database failing.");
  sendStatus({ database: failing }, { channels: [{ ...channel, raid_until: "2026-11-03T13:00:00Z" }] });
  await see(() => shown.join("|") === "This is a test.|2 users are throttled.|Database failing.|Raid mode has started.");
  assert.deepEqual(JSON.parse(localStorage.getItem("chatguard")).alerts, { raid: true, failure: true, many: true, count: 2, sound: false, notify: true });

  Notification.permission = "denied";
  Notification.requestPermission = async () => "denied";
  await click("#alert-notify");
  await click("#alert-notify");
  await see(() => text(".alerts-dialog").includes("Your browser blocks notifications from this page.") && !find("#alert-notify").checked);
});

test("address: of no page", async () => {
  await open();
  for (const address of ["nowhere", "limit", "toString", "nowhere?channel=1"]) {
    location.hash = `#/${address}`;
    await see(() => text("main h1") === "Page not found");
    assert.ok(text("main").includes("There is no page at this address.") && !find(".users") && !find("nav [aria-current]"));
    assert.match(document.title, /Page not found · chatguard$/);
    assert.equal(text("main a"), "Go to Now");
    await click("main a");
    await see(() => text("main h1") === "Now" && find(".users"));
  }
  location.hash = "#";
  await see(() => location.hash === "" && text("main h1") === "Now" && find(".users"));
});

test("address: a page that is opened begins at its top, and Back leaves the position to the browser", async (t) => {
  const scroll = t.mock.method(globalThis, "scrollTo", () => {}), scrolls = () => scroll.mock.callCount();
  answer("GET /channels/7/users/42/week", { limit: "daily", capacity: 300, from: "2026-10-27T12:00:00Z", until: "2026-11-03T12:00:00Z", points: [] });
  await open("limits");
  for (const page of ["people", "people?user=42", "now"]) {
    const before = scrolls();
    await goTo(page);
    await see(() => scrolls() === before + 1);
    assert.deepEqual(scroll.mock.calls.at(-1).arguments, [0, 0]);
  }
  const before = scrolls();
  await goTo("now?tab=recent"); // the same page
  await see(() => state.query.tab === "recent");
  history.replaceState("shown", "", "#/limits"); // as after Back
  dispatchEvent(new Event("hashchange"));
  await see(() => state.route === "limits");
  assert.equal(scrolls(), before);
});

test("address: of a channel that the user can't open", async () => {
  await open("people?channel=8");
  await see(() => text("main h1") === "Page not found" && text("main").includes("There is no channel at this address that you can open."));
  send({ type: "status", status: usualStatus, channels: [channel, second] });
  answer("frame", { ...usualAnswer("frame"), channel: "8", channels: [channel, second] });
  await see(() => text("main h1") === "People" && document.title.endsWith("People · #second · chatguard"));
  location.hash = "#/now?channel=9";
  await see(() => text("main h1") === "Page not found" && !find(".users"));
  location.hash = "#/admin?channel=9";
  await see(() => text("main h1") === "Admin");
});
