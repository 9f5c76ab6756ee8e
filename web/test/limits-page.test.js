import assert from "node:assert/strict";
import test from "node:test";
import { open, see, text, write } from "../testing/page.js";

test("limits: a rule follows its numbers", async () => {
  await open("limits");
  await write("#burst-0", "1");
  await see(() => text(".limit .rule") === "One message every 10 minutes");
  await write("#burst-0", "0");
  await see(() => text(".limit .rule") === "Fix the highlighted field.");
});

test("now: a throttled user has a row", async () => {
  await open();
  await see(() => text(".row").includes("Spammer"));
  assert.equal(text(".may-speak .left"), "writes again in 10 min");
});
