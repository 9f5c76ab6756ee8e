import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";
import { answer, button, click, find, open, see, write } from "../../testing/page.js";
import { update } from "../../static/app/core/state.js";

const isWarned = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));

beforeEach(() => {
  answer("GET /webhooks", { webhooks: [] });
  answer("GET /channels/7/users/42/week", { limit: "daily", capacity: 300, from: "2026-10-27T12:00:00Z", until: "2026-11-03T12:00:00Z", points: [] });
});

// Each form, with its page, its opener and one of its fields. Forms with an opener can be canceled.
const forms = {
  "a note": ["people?user=42", "", "#new-note"],
  "a change of a user": ["people?user=42", "#amend-grant", "#grant-messages"],
  settings: ["limits", "", "#raid-lasts"],
  "a link": ["admin", "#new-link", "#access-name"],
  "a webhook": ["admin", "#webhook-add", "#webhook-name"],
};

for (const [name, [page, opener, field]] of Object.entries(forms)) {
  test(`leaving: the browser asks while ${name} is typed`, async () => {
    await open(page);
    if (opener) {
      await see(() => find(opener));
      await click(opener);
    }
    await see(() => find(field));
    assert.equal(isWarned(), false);
    const before = find(field).value;
    await write(field, "30");
    await see(isWarned);
    if (opener) await click(button("Cancel"));
    else await write(field, before);
    await see(() => !isWarned());
  });
}

test("leaving: the setup page keeps what was typed, as for another language", async () => {
  const values = () => ["channel", "timezone", "client_id"].map((name) => find(`#${name}`).value);
  // reload draws the page again.
  const reload = async () => {
    update((s) => (s.session = "unknown"));
    await see(() => !find(".setup-page"));
    update((s) => Object.assign(s, { session: "in", me: { ...s.me, first_run: { console: "https://dev.twitch.tv/console/apps/create" } } }));
    await see(() => find(".setup-page form"));
  };
  await reload();
  const [, zone] = values();
  await write("#channel", "gardenhour", { leave: false });
  await write("#client_id", "abc", { leave: false });
  await reload();
  assert.deepEqual(values(), ["gardenhour", zone, "abc"]);
  assert.ok(find(".setup-page details").open);
  await write("#timezone", "Asia/Tokyo", { leave: false });
  await reload();
  assert.deepEqual(values(), ["gardenhour", "Asia/Tokyo", "abc"]);
});
