import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { loadTexts } from "../testing/texts.js";
import { draftOf, policyOf } from "../static/app/limits/draft.js";
import { followTimes, learnTimes, parseTimes, shownTimes } from "../static/app/limits/times.js";

await loadTexts("rules", "limits", "words");

const policyWith = (...limits) => ({ mode: "enforce", timezone: "", roles: ["vip", "everyone"], exempt: [], limits, penalties: { ladder: [], strike_every: "10s", forget_after: "30m" } });
const burst = { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" };
const daily = { name: "daily", algorithm: "daily-window", messages: 300 };
const cascade = { name: "both", algorithm: "cascade", burst: 3, refill: "4s", extra_burst: 2, extra_refill: "20ms" };

// multiplied returns a policy in which vip has a multiple of everyone's numbers.
function multiplied(policy, times) {
  const draft = draftOf(policy);
  draft.times.vip = times;
  followTimes(draft);
  return policyOf({ policy, draft });
}

const shownIn = (policy) => {
  const draft = draftOf(policy);
  learnTimes(draft);
  return shownTimes(draft, "vip");
};

test("times: messages are multiplied, times divided, and a role never gets more", () => {
  const { limits } = multiplied(policyWith(burst, daily, cascade), "1.5");
  assert.deepEqual(limits.map(({ roles }) => roles.vip), [{ burst: 4, refill: "2.667s" }, { messages: 450 }, { burst: 4, refill: "2.667s", extra_burst: 3, extra_refill: "13.334ms" }]);
  const [slower] = multiplied(policyWith({ ...burst, burst: 1 }), "0.5").limits;
  assert.deepEqual(slower.roles.vip, { burst: 1, refill: "8s" }, "nobody gets no message at all");
});

test("times: every multiple is found again", () => {
  for (const limits of [[burst], [daily], [burst, daily], [cascade, daily], [{ ...burst, burst: 1, refill: "1ms" }], [{ ...burst, refill: "2400h0m0.000000001s" }]]) {
    const policy = policyWith(...limits);
    for (let hundredths = 10; hundredths <= 10_000; hundredths += hundredths < 300 ? 7 : 397) {
      const made = multiplied(policy, String(hundredths / 100));
      const found = shownIn(made);
      assert.notEqual(found, "", `${JSON.stringify(limits)} × ${hundredths / 100}`);
      assert.deepEqual(multiplied(made, found).limits, made.limits, `${JSON.stringify(limits)} × ${hundredths / 100} is shown as ${found}`);
    }
  }
});

test("times: numbers that differ from limit to limit are no multiple", () => {
  assert.equal(shownIn(policyWith(burst, daily)), "1");
  assert.equal(shownIn(policyWith({ ...burst, roles: { vip: { burst: 6, refill: "2s" } } }, { ...daily, roles: { vip: { messages: 600 } } })), "2");
  for (const roles of [{ vip: { burst: 5, refill: "2s" } }, { vip: { burst: 6 } }, { vip: { burst: 6, refill: "2s" } }]) assert.equal(shownIn(policyWith({ ...burst, roles }, daily)), "");
});

test("times: a number with a point or a comma", () => {
  assert.deepEqual(["2", " 1,5 ", "0.1", "100", "1.", "2.25"].map(parseTimes), [200n, 150n, 10n, 10_000n, 100n, 225n]);
  assert.deepEqual(["", "0", "0.09", "100.01", "1e3", "-1", "½", "2.255", "９", "x"].map(parseTimes), Array(10).fill(null));
});
