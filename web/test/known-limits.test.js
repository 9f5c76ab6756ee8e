import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { draftOf, policyOf } from "../static/app/limits/draft.js";
import { errorsOf } from "../static/app/limits/draft-errors.js";
import { withPreset } from "../static/app/limits/presets.js";
import { bytesPerUser, knownLimits } from "../static/app/words/known-limits.js";
import { ruleOf } from "../static/app/words/rules.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

const policy = {
  mode: "observe", timezone: "Europe/Berlin", exempt: ["moderator"], exempt_messages: [], limits: [{ name: "burst", algorithm: "token-bucket", burst: 9, refill: "9s" }],
  penalties: { ladder: ["delete", "timeout 30s"], strike_every: "1s", forget_after: "1h" },
};

test("known limits: replace the limits, and nothing else", () => {
  for (const known of knownLimits) {
    const draft = draftOf(policy);
    draft.rungs.pop();
    const filled = { policy, draft: withPreset({ policy, draft }, known) };
    assert.deepEqual(errorsOf(filled), {});
    assert.deepEqual(policyOf(filled), { ...policy, limits: known.limits, penalties: { ...policy.penalties, ladder: ["delete"] } });
  }
});

test("known limits: as published, in words", () => {
  const rules = Object.fromEntries(knownLimits.map(({ id, limits }) => [id, limits.map((limit) => ruleOf(limit, ""))]));
  assert.deepEqual(rules.chat, ["3 messages, then one every 4 seconds"]);
  assert.deepEqual(rules.github, ["5,000 messages every hour by the clock"]);
  assert.deepEqual(rules.stripe, ["500 messages, then one every 0.01 seconds"]);
  assert.deepEqual(rules.openai, ["200 messages, then one every 7 minutes 12 seconds"]);
  assert.deepEqual(rules.rapidity, ["300 messages in 1 minute", "15,750 messages in 1 hour", "300,000 messages in 1 day", "1,500,000 messages in 7 days", "6,000,000 messages in 30 days"]
    .map((rule) => `${rule}, from the first one on`));
});

test("known limits: one sentence for and one against, and the bytes that chatguard states", () => {
  for (const { pros, cons } of knownLimits) for (const sentence of [pros, cons]) assert.match(sentence, /^[A-Z][^.]*( \d+ s)?[^.]*\.$/);
  assert.deepEqual(knownLimits.map(bytesPerUser), [8, 16, 8, 8, 80]);
});
