import assert from "node:assert/strict";
import test from "node:test";
import { answer, button, click, find, open, press, see, text, write } from "../../testing/page.js";

const hasFocus = (id) => document.activeElement.id === id;
const escape = () => press("Escape");

// openAdmin opens the page Admin with all that can be opened on it.
async function openAdmin() {
  const hook = { id: "1", name: "team", address: "https://discord.com/…f-it", format: "discord", events: ["raid"], channels: [], allow_private: false, configured: false, waiting: 0, dead: 1 };
  answer("GET /webhooks", { webhooks: [hook] });
  answer("GET /webhooks/1/deliveries", { waiting: [], dead: [] });
  await open("admin");
  await see(() => find("#webhook-delete-1") && find(".grants button"));
}

for (const [opener, form, field, cancel] of [
  ["new-link", ".admin-form", "#access-name", "Cancel"], ["new-token", ".admin-form", "#access-name", "Cancel"],
  ["webhook-add", ".webhook-form", "#webhook-name", "Cancel"], ["webhook-change-1", ".webhook-form", "#webhook-name", "Cancel"],
]) {
  test(`escape: closes the form of ${opener}, and keeps what was typed`, async () => {
    await openAdmin();
    await click(`#${opener}`);
    const before = find(field).value;
    await write(field, "berta", { leave: false });
    await escape();
    await see(() => !find(form) && hasFocus(opener));
    await click(`#${opener}`);
    await see(() => find(field).value === "berta");
    await click(button(cancel));
    await see(() => !find(form) && hasFocus(opener));
    await click(`#${opener}`);
    await see(() => find(field).value === before);
  });
}

for (const [opener, shows] of [["webhook-delete-1", ".webhook .asked"], ["end-/sessions/random", ".grants .asked"], ["webhook-letters-1", ".deliveries"]]) {
  test(`escape: closes what ${opener} opens`, async () => {
    await openAdmin();
    const button = document.getElementById(opener);
    await click(button);
    await see(() => find(shows) && (shows === ".deliveries" || find(shows).contains(document.activeElement)));
    assert.ok(!document.activeElement.matches(".danger")); // Enter twice ends nothing
    await escape();
    await see(() => !find(shows) && hasFocus(opener));
  });
}

test("escape: closes one thing at a time, first the one around the focus", async () => {
  await openAdmin();
  await click("#new-link");
  await click("#webhook-add");
  find("#access-name").focus();
  await escape();
  await see(() => !find(".admin-form") && find(".webhook-form"));
  find("#overlay-size").focus(); // a field of something else
  await escape();
  assert.ok(find(".webhook-form"));
  await click("#new-token");
  document.activeElement.blur();
  await escape();
  await see(() => !find(".admin-form") && find(".webhook-form")); // the newest
  await escape();
  await see(() => !find(".webhook-form"));
});

test("escape: while text is entered with an input method, it is about that text", async () => {
  await openAdmin();
  await click("#new-link");
  find("#access-name").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, isComposing: true }));
  assert.ok(find(".admin-form"));
});

test("escape: leaves a secret that is shown once", async () => {
  answer("POST /links", { link: "http://chat.example/#signin=code" });
  await openAdmin();
  await click("#new-link");
  await write("#access-name", "clara", { leave: false });
  await click("#access-make");
  await see(() => find(".new-secret"));
  await escape();
  assert.equal(text(".new-secret code"), "http://chat.example/#signin=code");
});

test("escape: the form of a user’s card keeps what was typed, until it is canceled or sent", async () => {
  const path = "/channels/7/users/42", timeout = { banned: false, until: "2026-11-03T12:10:00Z", by: "owner" };
  answer(`GET ${path}/week`, { limit: "daily", capacity: 300, from: "2026-10-27T12:00:00Z", until: "2026-11-03T12:00:00Z", points: [] });
  answer(`POST ${path}/timeout`, { saved: true, already: false, silenced: timeout, undo: "timeout" });
  await open("people?user=42");
  const reopen = async (reason) => {
    await click("#amend-timeout");
    await see(() => find("#act-reason")?.value === reason);
  };
  await reopen("");
  await write("#act-reason", "spam", { leave: false });
  await escape();
  await see(() => !find(".amend") && hasFocus("amend-timeout"));
  await click("#amend-grant");
  await reopen("spam");
  await click(button("Cancel"));
  await see(() => !find(".amend") && hasFocus("amend-timeout"));
  await reopen("");
  await write("#act-reason", "spam", { leave: false });
  await click(".amend .primary");
  await see(() => !find(".amend"));
  await reopen("");
});

test("escape: closes the table of a chart around the focus", async () => {
  await open();
  await see(() => find(".chart summary"));
  const summary = find(".chart summary");
  summary.parentElement.open = true;
  summary.focus();
  await escape();
  assert.ok(!summary.parentElement.open && document.activeElement === summary);
});
