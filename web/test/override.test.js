import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { overrideDraft, overrideErrors, overrideOf } from "../static/app/people/override.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

const card = (override = {}) => ({
  override, override_etag: '"1"', timezone: "UTC", day_ends: "2026-11-04T00:00:00Z",
  limits: [
    { name: "crowd", algorithm: "fixed-window", per: "channel" }, { name: "burst", algorithm: "token-bucket", per: "user" },
    { name: "daily", algorithm: "daily-window", per: "user" }, { name: "total", algorithm: "user-window", per: "user-everywhere" },
  ],
});

test("override: an empty draft asks for nothing", () => {
  const draft = overrideDraft(card());
  assert.deepEqual(draft, { exempt: "by-role", until: "", zone: "", limits: { burst: { burst: "", refill: "" }, daily: { messages: "" } } });
  assert.deepEqual(overrideOf(draft, card()), {});
});

test("override: what isn't changed comes back to the letter", () => {
  const own = { exempt: "always", exempt_until: "2026-11-03T13:00:00.123Z", timezone: "Asia/Tokyo", limits: { burst: { burst: 5, refill: "1m0s" } } };
  assert.deepEqual(overrideOf(overrideDraft(card(own)), card(own)), own);
});

test("override: changed", () => {
  const draft = { exempt: "never", until: "", zone: " Asia/Tokyo ", limits: { burst: { burst: "5", refill: "" }, daily: { messages: "" } } };
  assert.deepEqual(overrideOf(draft, card()), { exempt: "never", timezone: "Asia/Tokyo", limits: { burst: { burst: 5 } } });
});

test("override: an end counts only with an exemption", () => {
  const draft = { ...overrideDraft(card()), until: "2026-11-03T13:00" };
  assert.deepEqual(overrideOf(draft, card()), {});
  assert.deepEqual(overrideOf({ ...draft, exempt: "always" }, card()), { exempt: "always", exempt_until: new Date("2026-11-03T13:00").toISOString() });
});

test("override: what is wrong", () => {
  const draft = overrideDraft(card());
  draft.zone = "there";
  draft.limits.burst.burst = "0";
  assert.deepEqual(overrideErrors(draft, card()), {
    zone: "Enter a time zone, such as Europe/Berlin.",
    "burst-burst": "Enter a whole number, 1 or more. Leave empty to inherit.",
  });
});
