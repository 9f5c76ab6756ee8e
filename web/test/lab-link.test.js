import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { parse } from "../static/app/core/route.js";
import { draftOf, policyOf } from "../static/app/limits/draft.js";
import { labAddress } from "../static/app/limits/lab-link.js";
import { withTried } from "../static/app/limits/tried.js";
import { useLink } from "../static/lab/head.js";
import { parse as parseLab } from "../static/lab/share.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

const policy = {
  mode: "enforce", timezone: "Europe/Berlin", exempt: [], exempt_messages: [],
  limits: [
    { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s", per: "channel", count_throttled: true, reserve: 1 },
    { name: "daily", algorithm: "daily-window", messages: 300, reset_at: "04:30" },
    { name: "two", algorithm: "cascade", burst: 3, refill: "4s", extra_burst: 2, extra_refill: "1m30s" },
    { name: "exact", algorithm: "sliding-log", messages: 5, every: "500ms" },
  ],
  penalties: { ladder: [], strike_every: "10s", forget_after: "30m0s" },
};

test("the Lab reads every limit of a channel, and its numbers come back unchanged", () => {
  const form = { policy, draft: draftOf(policy), errors: {} };
  form.draft.limits.forEach((limit, i) => {
    const [document, fragment] = labAddress(limit, i, form, "check:a b").split("#");
    const { setup, unknown } = parseLab(fragment);
    assert.deepEqual([document, unknown], ["lab", []]);
    assert.deepEqual(setup.traffic, { kind: "recorded", channel: "check:a b", for: "10m" });
    const { page, channel, query } = parse(useLink({ ...setup, edited: 0 }).slice("./".length));
    assert.deepEqual([page, channel], ["limits", "check:a b"]);
    const { draft, tried } = withTried({ policy, draft: draftOf(policy) }, query.try);
    assert.deepEqual(tried, { filled: [limit.name], added: [], wrong: [] });
    assert.deepEqual(policyOf({ policy, draft }), policy);
  });
});
