import assert from "node:assert/strict";
import test from "node:test";
import { answer, click, find, goTo, open, see, text, usualAnswer, withTag } from "../../testing/page.js";
import { update } from "../../static/app/core/state.js";

const focused = () => document.activeElement;

test("focus: when limits are enforced from the checklist, it stays at that step", async () => {
  const steps = ["connect", "moderator", "watch", "enforce"].map((name) => ({ name, state: name === "enforce" ? "todo" : "done" }));
  const setup = { steps, done: false, token: "valid", moderator: "yes", account: "bot", since: "2026-11-03T11:00:00Z", messages: 40, observed: 3, mode: "observe", in_force: "observe" };
  const policy = usualAnswer("GET /channels/7/policy");
  answer("GET /setup", setup);
  answer("GET /channels/7/policy", withTag('"1"', policy));
  answer("PUT /channels/7/policy", () => {
    answer("GET /setup", { ...setup, steps: steps.map((step) => ({ ...step, state: "done" })), done: true, mode: "enforce", in_force: "enforce" });
    return withTag('"2"', { channel: "7", number: 1, author: "owner", at: "2026-11-03T12:00:00Z", policy, changes: [], difference: [], saved: true });
  });
  await open();
  await click("#enforce");
  await see(() => focused().id === "enforce-now");
  await click("#enforce-now");
  await see(() => text("#step-enforce .step-body") === "Messages beyond the limits are acted on.");
  assert.equal(focused().id, "step-enforce");
  find("#main").focus();
  assert.ok(!find("#step-enforce").hasAttribute("tabindex"));
});

test("focus: after a confirmed question, it stays in the list", async () => {
  const access = usualAnswer("GET /access");
  const token = { name: "berta", access: "help", from: "owner", made: "2026-11-03T11:00:00Z" };
  answer("GET /access", { ...access, tokens: [token] });
  answer("DELETE /tokens/berta", () => {
    answer("GET /access", { ...access, tokens: [] });
    return { tokens: 0, links: 0, sessions: 1 };
  });
  answer("GET /webhooks", { webhooks: [] });
  await open("admin");
  await click("[id='end-/tokens/berta']");
  await click(".asked .danger");
  await see(() => !find("[id='end-/tokens/berta'], .asked"));
  assert.ok(focused() === find("[aria-labelledby=access-tokens]"));
});

test("focus: another page begins at its head if its link has gone", async () => {
  await open();
  const link = find("main a");
  link.focus();
  await goTo("audit");
  await see(() => !link.isConnected);
  assert.equal(focused().id, "main");
});

test("focus: a control that is disabled passes it on, one that is left doesn't", async () => {
  await open();
  find("#main").insertAdjacentHTML("beforeend", '<form id="made"><button id="one">one</button><button id="two">two</button></form>');
  find("#one").focus();
  find("#one").disabled = true;
  await see(() => focused().id === "made");
  find("#two").focus();
  find("#two").blur();
  await see(() => focused() === document.body);
  find("#two").remove();
  await see(() => true);
  assert.ok(focused() === document.body);
  find("#made").remove();
});

test("focus: a part that is hidden passes it on to what is around", async () => {
  await open();
  find("#main").insertAdjacentHTML("beforeend", '<section id="outer"><form id="inner"><button id="one">one</button></form></section>');
  find("#one").focus();
  find("#inner").focus = () => {}; // as if it were hidden: without a layout, everything takes the focus
  find("#one").remove();
  await see(() => focused().id === "outer");
  assert.ok(!find("#inner").hasAttribute("tabindex"));
  find("#outer").remove();
});

test("focus: the setup page begins with its first field", async () => {
  update((s) => Object.assign(s, { session: "in", me: { ...s.me, first_run: { console: "https://dev.twitch.tv/console/apps/create" } } }));
  await see(() => find(".setup-page form"));
  assert.equal(focused().id, "channel");
  assert.equal(find(".masthead select").value, "en");
});
