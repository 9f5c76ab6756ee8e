import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";
import { all, answer, button, click, find, hangUp, open, pick, refuse, requests, see, text, usualAnswer, withTag, write } from "../../testing/page.js";

const access = usualAnswer("GET /access");
const [own] = access.sessions;
const settings = usualAnswer("GET /channels/7/settings");
const sent = () => requests.findLast(({ method }) => method !== "GET");
const shows = (words) => text("main").includes(words);

beforeEach(() => answer("GET /webhooks", { webhooks: [] }));

// openAdmin opens the page Admin. me is the signed-in user.
async function openAdmin(me) {
  answer("GET /session", { ...usualAnswer("GET /session"), ...me });
  await open("admin");
}

const token = { name: "berta", access: "help", from: "token", made: own.begun };
const known = (more) => answer("GET /access", { ...access, ...more });

test("admin: a token is made, shown once and ended", async () => {
  await openAdmin();
  await see(() => shows("Who can sign in, and which programs have access.") && shows("No tokens."));
  await click("#new-token");
  await see(() => document.activeElement.id === "access-name");
  answer("POST /tokens", refuse(422, "The colon marks the origin of an author."));
  await write("#access-name", "twitch:berta", { leave: false });
  await click("#access-make");
  await see(() => text(".admin-form .error") === "The colon marks the origin of an author.");
  assert.deepEqual(sent().body, { name: "twitch:berta", role: "view" });
  answer("POST /tokens", () => {
    known({ tokens: [token], sessions: [own, { ...own, name: "berta", id: "theirs", from: "token" }] });
    return { token: "secret-of-berta" };
  });
  await write("#access-name", " berta ", { leave: false });
  await pick("#access-role", "help");
  await see(() => text("#access-role-note") === "Also pardons, grants, exempts and resets users, and writes notes.");
  await pick("#access-expires", "90d");
  await click("#access-make");
  await see(() => text("#new-secret-title") === "Token of berta" && text(".new-secret code") === "secret-of-berta" && document.activeElement.className === "new-secret");
  assert.deepEqual(sent().body, { name: "berta", role: "help", expires: "90d" });
  assert.ok(shows("It isn’t shown again."));
  await click(".new-secret > button");
  await see(() => !shows("secret-of-berta") && text(".grants").startsWith("berta helper Made 12:00:00."));
  assert.ok(shows("Signed in with a token"));

  answer("DELETE /tokens/berta", () => {
    known({});
    return { tokens: 1, links: 0, sessions: 1 };
  });
  await click('[aria-label="End the token of berta"]');
  await see(() => text(".grants .asked span") === "End the token of berta? Sign-in links and sessions of this name end, too.");
  await click(".grants .danger");
  await see(() => shows("No tokens.") && !shows("Signed in with a token"));
});

test("admin: works before any channel is known", async () => {
  const unidentified = [{ login: "gardenhour", reason: "unreachable" }];
  answer("GET /channels", { channels: [], unidentified });
  answer("frame", { ...usualAnswer("frame"), channel: "", channels: [], unidentified, users: [], policy: null });
  answer("POST /tokens", { token: "secret-of-berta" });
  await openAdmin();
  await see(() => shows("No tokens.") && shows("Webhooks"));
  assert.ok(!shows("Twitch can’t be reached") && !find(".overlay-card"));
  await click("#new-token");
  await write("#access-name", "berta", { leave: false });
  await click("#access-make");
  await see(() => text(".new-secret code") === "secret-of-berta");
});

test("admin: a link is made, and sessions are ended", async () => {
  const theirs = { ...own, name: "clara", access: "moderate", from: "link", id: "theirs", channels: { 7: "moderate", 9: "view" }, used: undefined };
  const link = { name: "clara", access: "view", from: "link", id: "l1", made: own.begun, expires: "2026-11-03T13:00:00Z" };
  known({ links: [link], sessions: [own, theirs] });
  answer("POST /links", { link: "http://chat.example/#signin=code" });
  answer("DELETE /links/l1", refuse(503, "the database is failing"));
  answer("DELETE /sessions/theirs", () => known({}));
  await openAdmin();
  await click("#new-link");
  await see(() => !find("#access-expires"));
  await write("#access-name", "clara", { leave: false });
  await click("#access-make");
  await see(() => text("#new-secret-title") === "Sign-in link for clara" && text(".new-secret code") === "http://chat.example/#signin=code");
  await see(() => shows("Unused sign-in links") && shows("Signed in by a link, 12:00:00. Channels: #somechannel, 9. Ends Thu 3 Dec, 12:00:00. Not used since chatguard started."));
  await click('[aria-label="End the link for clara"]');
  await click(".grants .danger");
  await see(() => text(".grants .error") === "the database is failing");
  await click(button("Keep"));
  await click('[aria-label="End a session of clara"]');
  await click(".grants .danger");
  await see(() => !shows("Unused sign-in links") && all(".grants li").length === 1 && shows("this browser"));
  await click('[aria-label="End a session of owner"]');
  await see(() => text(".grants .asked span") === "End your own session? You will be signed out.");
  answer("DELETE /sessions/random", refuse(401, "Sign in first."));
  await click(".grants .danger");
  await see(() => text("h1") === "Sign in to chatguard");
});

test("admin: hostile names stay names", async () => {
  const name = "\u202e<b>evil</b>\u2066 owner";
  known({ tokens: [{ ...token, name }] });
  await openAdmin();
  await see(() => text(".grants strong > bdi") === name);
  await click(".grants li button");
  await see(() => text(".grants .asked bdi") === name && all("main .grants b").length === 0);
});

test("admin: what moderators may do", async () => {
  answer("GET /channels/7/settings", withTag('"one"', settings));
  await openAdmin();
  await see(() => find("#moderators-moderate")?.checked);
  answer("PUT /channels/7/settings", ({ body }) => {
    answer("GET /channels/7/settings", withTag('"two"', { settings: body, configured: false }));
    return { settings: body, configured: false, saved: true };
  });
  await click("#moderators-help");
  await see(() => shows("Saved. Applies at once.") && find("#moderators-help").checked);
  assert.deepEqual([sent().body, sent().headers.get("If-Match")], [{ ...settings.settings, moderators: "help" }, '"one"']);
  answer("PUT /channels/7/settings", refuse(412, "The settings have changed."));
  await click("#moderators-view");
  await see(() => shows("The settings have changed.") && find("#moderators-help").checked);
});

test("admin: an owner of one channel", async () => {
  await openAdmin({ all: undefined, channels: { 7: "own" } });
  await see(() => shows("Only owners of the whole installation") && shows("Moderators who sign in with Twitch"));
  assert.ok(!find(".card.access, .webhooks"));
  answer("GET /session", { ...usualAnswer("GET /session"), access: "view", all: undefined, channels: { 7: "view" } });
  hangUp();
  await see(() => shows("This page needs owner access to the channel.") && !find('nav a[href^="#/admin"]'));
  answer("GET /session", refuse(401, "Sign in first."));
  hangUp();
  await see(() => text("h1") === "Sign in to chatguard");
});

for (const [role, { acts = false, pauses = false, notices = false, owns = false }] of Object.entries({
  view: {}, help: { acts: true }, moderate: { acts: true, pauses: true }, "moderate-notices": { acts: true, pauses: true, notices: true }, own: { acts: true, pauses: true, notices: true, owns: true },
})) {
  test(`roles: what ${role} access shows`, async () => {
    answer("GET /session", { ...usualAnswer("GET /session"), access: role, all: role });
    await open();
    await see(() => find(".row"));
    assert.deepEqual([".row .acts button", "#pause", 'nav a[href^="#/admin"]'].map((one) => Boolean(find(one))), [acts, pauses, owns]);
    location.hash = "#/limits";
    await see(() => find("#notice-text"));
    assert.deepEqual([Boolean(find("#save-settings")), find("#raid-lasts").readOnly, find("#notice-text").readOnly], [pauses, !pauses, !notices]);
    location.hash = "#/admin";
    await see(() => text("h1") === "Admin");
    assert.deepEqual([Boolean(find(".card.access, .webhooks")), shows("This page needs owner access to the channel.")], [owns, !owns]);
  });
}

const hook = { id: "1", name: "team", address: "https://discord.com/…f-it", format: "discord", events: ["raid", "pause"], channels: [], allow_private: false, configured: false, waiting: 0, dead: 0 };
const hooks = (...list) => answer("GET /webhooks", { webhooks: list.map((one) => ({ ...hook, ...one })) });

// changesHook makes the server accept a change after which there are these webhooks.
const changesHook = (request, list, more) => answer(request, () => {
  hooks(...list);
  return { saved: true, ...more };
});

test("webhooks: added, changed and deleted", async () => {
  await openAdmin();
  await see(() => text(".webhooks").includes("chatguard reports events to Discord") && text(".webhooks").includes("No webhooks yet."));
  await click("#webhook-add");
  await see(() => document.activeElement.id === "webhook-name" && !text(".webhooks").includes("No webhooks yet."));
  answer("POST /webhooks", refuse(422, "192.168.0.7 is not an address on the public internet."));
  await write("#webhook-name", " team ", { leave: false });
  await write("#webhook-address", " https://192.168.0.7/hook ", { leave: false });
  await click("#webhook-event-ban");
  await click("#webhook-save");
  await see(() => text(".webhook-form .error").startsWith("192.168.0.7"));
  assert.deepEqual(sent().body, { name: "team", url: "https://192.168.0.7/hook", format: "discord", events: ["raid", "pause", "failure", "limits", "summary"], channels: [], new_secret: false });
  changesHook("POST /webhooks", [{ events: ["raid", "pause", "failure", "limits", "summary"] }], { webhook: hook, saved: false });
  await click("#webhook-save");
  await see(() => text(".webhook .address") === hook.address && text(".webhook").includes("Events: raid mode, pauses, failures, changed limits, summary after the stream."));
  assert.match(text(".webhooks"), /In force, but not saved yet.*not used yet/);

  await click("#webhook-change-1");
  await see(() => find("#webhook-name").value === "team" && find("#webhook-address").value === "" && find("#webhook-address").placeholder.includes(hook.address));
  await pick("#webhook-format", "signed");
  changesHook("PUT /webhooks/1", [{ format: "signed" }], { webhook: { ...hook, format: "signed" }, secret: "whsec_new" });
  await click("#webhook-save");
  await see(() => text(".new-secret code") === "whsec_new" && text(".new-secret").includes("It isn’t shown again."));
  assert.deepEqual([sent().body.format, "url" in sent().body], ["signed", false]);
  await click(".new-secret > button");
  await see(() => !find(".new-secret"));

  changesHook("DELETE /webhooks/1", []);
  await click(".webhook .delete");
  await see(() => text(".webhook .asked span") === "Delete this webhook and its pending deliveries?");
  await click(".webhook .danger");
  await see(() => text(".webhooks").includes("No webhooks yet."));
});

test("webhooks: tested, and what was given up is sent again", async () => {
  const off = { off: "the server answered 410 Gone", dead: 1, configured: true };
  hooks(off);
  const letter = { id: 4, event: "pause", channel: "7", at: own.begun, text: "#somechannel: Paused. anna paused chatguard.", tries: 3, dead_at: own.begun, reason: "410 Gone" };
  answer("GET /webhooks/1/deliveries", { waiting: [], dead: [letter] });
  await openAdmin();
  await see(() => text(".webhook").includes("switched off") && text(".webhook").includes("Nothing is sent any more: the server answered 410 Gone.") && text(".webhook").includes("in the configuration"));
  assert.ok(!find(".webhook .delete"));
  answer("POST /webhooks/1/test", { delivered: false, problem: "the server answered 500 Internal Server Error", took_ms: 4, webhook: { ...hook, ...off } });
  await click(".webhook .test");
  await see(() => text(".webhook").includes("The test failed: the server answered 500 Internal Server Error."));
  answer("POST /webhooks/1/test", () => {
    hooks({ dead: 1, success_at: own.begun });
    return { delivered: true, took_ms: 4, webhook: hook };
  });
  await click(".webhook .test");
  await see(() => text(".webhook").includes("The test arrived after") && text(".webhook").includes("works"));
  await click(".webhook .letters");
  await see(() => text(".deliveries li").startsWith(letter.text));
  changesHook("POST /webhooks/1/deliveries/4/retry", [{}]);
  answer("GET /webhooks/1/deliveries", { waiting: [letter], dead: [] });
  await click(".deliveries .send-again");
  await see(() => text(".deliveries").includes("No deliveries were given up.") && text(".deliveries").includes("Queued to be sent again."));
});

const raid = settings.settings.raid;

test("settings: raid mode and notices are edited and restored", async () => {
  answer("GET /channels/7/settings", withTag('"one"', settings));
  await open("limits");
  await see(() => find("#raid-channel_burst")?.value === "20" && text(".settings").includes("With 0, raid mode starts only when a moderator starts it."));
  await write("#raid-lasts", "1800");
  await write("#raid-start_rate", "50");
  await write("#notice-text", "@{name}, next message in {wait}");
  await see(() => text(".settings").includes("Raid mode starts by itself once there are 50 messages per second on average") && text(".settings").includes("Anna reads: “@Anna, next message in 4 s”"));
  assert.equal(find("#timeout-lengths").value, "10 minutes, 30 seconds, 1 minute, 1 hour, 1 day");
  for (const wrong of ["", "soon", "15d", "1m,", "1,2,3,4,5,6,7"]) {
    await write("#timeout-lengths", wrong);
    await see(() => text("#timeout-lengths-error") === "Enter 1 to 6 durations from 1 second to 14 days, with commas between them.");
  }
  await write("#timeout-lengths", "10 min, 1h30,2d");
  await write("#timeout-reason", " spam ");
  answer("PUT /channels/7/settings", ({ body }) => withTag('"two"', { settings: body, configured: false, saved: true }));
  await click("#save-settings");
  await see(() => text(".settings [role=status]") === "Saved. In force from now on.");
  assert.deepEqual([sent().body, sent().headers.get("If-Match")],
    [{ raid: { ...raid, lasts: "30m", start_rate: 50 }, notices: { text: "@{name}, next message in {wait}", cooldown: "1m0s", language: "en" }, timeouts: { lengths: ["10m", "1h30m", "48h"], reason: "spam" } }, '"one"']);
  for (const [typed, error] of [["/ban {name}", "A message that begins with “/” is a chat command."], ["@{who}", "Use only the placeholders {name}, {wait}, {limit}."], ["x".repeat(401), "Enter at most 400 characters."]]) {
    await write("#notice-text", typed);
    await see(() => text("#notice-text-error").startsWith(error) && find("#save-settings").getAttribute("aria-disabled") === "true");
  }
  await click(".samples button");
  await see(() => !text("#notice-text-error"));
  answer("DELETE /channels/7/settings", withTag('"one"', { ...settings, saved: false }));
  await click(".settings .restore");
  await see(() => find("#raid-start_rate").value === "0" && find("#notice-text").value === "" && text(".settings [role=status]").startsWith("In force, but not saved yet"));
  assert.equal(sent().headers.get("If-Match"), '"two"');
});

test("settings: two people edit them", async () => {
  answer("GET /channels/7/settings", withTag('"one"', settings));
  answer("PUT /channels/7/settings", refuse(412, "Someone else changed these settings."));
  await open("limits");
  await write("#raid-channel_burst", "9");
  await click("#save-settings");
  await see(() => text(".settings .note.bad span") === "Someone else changed these settings.");
  answer("GET /channels/7/settings", withTag('"two"', { ...settings, settings: { ...settings.settings, raid: { ...raid, channel_burst: 5 } } }));
  await click(".settings .reload");
  await see(() => find("#raid-channel_burst").value === "5" && !find(".settings .note"));
});
