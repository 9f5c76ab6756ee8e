import assert from "node:assert/strict";
import test from "node:test";
import { answer, click, find, open, pick, refuse, requests, see, send, text, texts, usualAnswer } from "../../testing/page.js";

const off = {
  slow_mode: false, slow_mode_wait_time: 0, follower_mode: false, follower_mode_duration: 0, subscriber_mode: false, emote_mode: false, unique_chat_mode: false,
};

// sendModes sends the channel's chat modes, or nothing about them. A page that opens the feed again
// gets them, too.
function sendModes(modes, changes = {}) {
  const channels = [{ ...usualAnswer("frame").channels[0], acts: true, ...changes, ...(modes && { modes: { ...off, ...modes } }) }];
  answer("frame", { ...usualAnswer("frame"), channels });
  answer("GET /channels", { ...usualAnswer("GET /channels"), channels });
  send({ type: "status", status: usualAnswer("frame").status, channels });
}

const says = () => text("#modes .says");
const pressed = (mode) => ["off", "on"].filter((state) => find(`#${mode}-${state}`).getAttribute("aria-pressed") === "true").join();
const sent = () => requests.filter(({ path }) => path.endsWith("/modes")).map(({ method, path, body }) => [method, path, body]);

// openAs opens the page with an access.
async function openAs(access) {
  answer("GET /session", { ...usualAnswer("GET /session"), access, all: access });
  await open();
}

test("modes: the button says which modes are on", async () => {
  await open();
  sendModes(null);
  await see(() => says() === "unknown");
  sendModes({});
  await see(() => says() === "all off" && find("#modes").title === "Chat modes on Twitch: all off");
  sendModes({ slow_mode: true, slow_mode_wait_time: 7, follower_mode: true, emote_mode: true });
  await see(() => says() === "Slow mode, Followers only, Emotes only");
  assert.equal(find("#modes").title, "Chat modes on Twitch: Slow mode (7 s), Followers only (any follower), Emotes only");
  sendModes({ follower_mode: true, follower_mode_duration: 129_600 });
  await see(() => says() === "Followers only (90 d)");
});

test("modes: only those who moderate a chat of Twitch have the button", async () => {
  await openAs("view");
  sendModes({});
  await see(() => text("h1"));
  assert.ok(!find("#modes"));
  await openAs("moderate");
  sendModes({});
  await see(() => find("#modes"));
  sendModes(null, { acts: false });
  await see(() => !find("#modes"));
});

test("modes: each button switches one mode at once", async () => {
  answer("PATCH /channels/7/modes", { saved: true });
  await open();
  sendModes({ unique_chat_mode: true });
  await see(() => find("#modes"));
  await click("#modes");
  await see(() => find("#slow_mode-on"));
  await see(() => pressed("slow_mode") === "off" && pressed("unique_chat_mode") === "on");
  const before = sent().length;
  await click("#unique_chat_mode-on"); // it is on
  await pick("#slow_mode-number", "10"); // it is off
  await click("#slow_mode-on");
  sendModes({ slow_mode: true, slow_mode_wait_time: 10, unique_chat_mode: true });
  await see(() => pressed("slow_mode") === "on");
  await pick("#slow_mode-number", "120");
  await click("#unique_chat_mode-off");
  await click("#follower_mode-on");
  await see(() => sent().length === before + 4);
  assert.deepEqual(sent().slice(before), [
    { slow_mode: true, slow_mode_wait_time: 10 }, { slow_mode: true, slow_mode_wait_time: 120 }, { unique_chat_mode: false }, { follower_mode: true, follower_mode_duration: 10 },
  ].map((body) => ["PATCH", "/channels/7/modes", body]));
  sendModes({ slow_mode: true, slow_mode_wait_time: 7 }, { modes_by: "token:<b>anna</b>" }); // somebody else's number
  await see(() => text(".modes-dialog p").endsWith("Each button acts at once. Chat modes last changed by <b>anna</b> (token)."));
  await see(() => find("#slow_mode-number").value === "7");
  assert.deepEqual(texts("#slow_mode-number option"), ["3 s", "5 s", "7 s", "10 s", "20 s", "30 s", "1 min", "2 min"]);
});

test("modes: unknown modes can be switched, and a refusal is shown", async () => {
  answer("PATCH /channels/7/modes", refuse(422, "the bot isn't a moderator here: type /mod chatguard_bot in the chat of somechannel"));
  await open();
  sendModes(null);
  await see(() => find("#modes"));
  await click("#modes");
  await see(() => text(".modes-dialog [role=status]").startsWith("It isn't known"));
  assert.equal(pressed("emote_mode"), "");
  const before = sent().length;
  await click("#emote_mode-off");
  await see(() => text(".modes-dialog [role=alert]").includes("type /mod chatguard_bot"));
  answer("PATCH /channels/7/modes", { saved: true });
  await click("#emote_mode-on");
  await see(() => text(".modes-dialog [role=alert]") === "");
  assert.deepEqual(sent().slice(before).map(([, , body]) => body), [{ emote_mode: false }, { emote_mode: true }]);
});
