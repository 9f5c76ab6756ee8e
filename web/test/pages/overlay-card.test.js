import assert from "node:assert/strict";
import test from "node:test";
import { all, answer, click, find, open, pick, requests, see, text, usualAnswer, write } from "../../testing/page.js";

test("overlay card: makes an address with the chosen looks", async () => {
  answer("GET /overlay", { ...usualAnswer("GET /overlay"), users: [] });
  answer("GET /webhooks", { webhooks: [] });
  answer("POST /tokens", { token: "secret" });
  await open("admin");
  await see(() => text("#overlay-title") === "Overlay for OBS: somechannel");
  await see(() => text(".overlay-preview figcaption").startsWith("An example") && all(".overlay-preview li").length === 5);
  answer("GET /overlay", usualAnswer("GET /overlay"));
  await see(() => text(".overlay-preview .overlay-names") === "Spammer");
  await write("#overlay-size", "200");
  await see(() => text("#overlay-size-error") === "Enter a number from 16 to 120.");
  await write("#overlay-size", "64");
  await click("#overlay-background");
  await click("#overlay-show-count");
  await pick("#overlay-position", "bottom-right");
  await see(() => text("#overlay-size-error") === "" && !find(".overlay-preview .overlay-count"));
  await click("#overlay-make");
  await see(() => document.activeElement.className === "new-secret");
  assert.deepEqual(requests.find(({ path }) => path === "/tokens").body, { name: "overlay-somechannel", role: "overlay" });
  const address = "http://chat.example/overlay?size=64&background=00000099&position=bottom-right&show=names,raid#token=secret&channel=7";
  assert.equal(text(".overlay-card .new-secret code"), address);
  await write("#overlay-size", "65"); // the address follows
  await see(() => text(".overlay-card .new-secret code") === address.replace("64", "65") && find("#overlay-open").href === address.replace("64", "65"));
});
