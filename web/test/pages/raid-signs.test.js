import assert from "node:assert/strict";
import test from "node:test";
import { all, answer, click, find, open, pick, refuse, requests, see, send, state, text, usualAnswer } from "../../testing/page.js";

const { status, channels: [channel] } = usualAnswer("frame");
const raid = { since: "2026-11-03T12:00:00Z", messages: 1234, times: 7, suspicious: 1000 };

const sendChannel = (changes = {}) => send({ type: "status", status, channels: [{ ...channel, ...changes }] });
const proposal = () => text(".raid-signs");
const start = ".raid-signs .primary", dismiss = ".raid-signs .icon-only";

test("raid signs: raid mode is proposed, and the switch starts it", async () => {
  answer("POST /channels/7/raid", { saved: true, until: "2026-11-03T12:30:00Z" });
  await open();
  await see(() => find("#raid"));
  assert.ok(find("#raid-signs[role=status]"), "a screen reader announces only what is there before");
  sendChannel({ raid_signs: raid });
  await see(() => proposal().includes("7× the usual number of messages, 81% from people who are new here or write too much."));
  assert.equal(text("#raid-signs"), "Looks like a raid");
  assert.equal(text(".status .word"), "Looks like a raid");
  sendChannel({ raid_signs: { ...raid, times: undefined } });
  await see(() => proposal().includes("1,234 messages in 10 seconds, 81% from"));
  assert.equal(text("#raid-signs"), "Looks like a raid", "it isn't announced again");
  await pick("#raid-length", "30m");
  await click(start);
  const { method, path, body } = requests.at(-1);
  assert.deepEqual([method, path, body], ["POST", "/channels/7/raid", { for: "30m" }]);
  sendChannel({ raid_until: "2026-11-03T12:30:00Z" });
  await see(() => !proposal() && find("#raid-signs[role=status]"));
});

test("raid signs: dismissed until the next raid", async () => {
  await open();
  sendChannel({ raid_signs: raid });
  await see(() => find(dismiss));
  await click(dismiss); // as by the keyboard: without a place
  await see(() => !proposal() && text(".status .word") === "All good" && document.activeElement.id === "raid");
  sendChannel({ raid_signs: { ...raid, messages: 2000 } });
  sendChannel({ raid_signs: { ...raid, since: "2026-11-03T13:00:00Z" } });
  await see(() => proposal());
  assert.equal(all(".raid-signs").length, 1);
});

test("raid signs: who may not moderate isn't asked, and a refusal is shown", async () => {
  await open();
  answer("POST /channels/7/raid", refuse(503));
  sendChannel({ raid_signs: raid });
  await see(() => find(start));
  await click(start);
  await see(() => text(".raid-signs .bad"));
  state.me.access = "help";
  await see(() => !proposal());
  assert.equal(text(".status .word"), "Looks like a raid");
  assert.ok(state.channels[0].raid_signs);
});
