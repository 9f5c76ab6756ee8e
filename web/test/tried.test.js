import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { draftOf, isDirty, policyOf } from "../static/app/limits/draft.js";
import { withTried } from "../static/app/limits/tried.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules", "limits");

const policy = {
  mode: "enforce", timezone: "Europe/Berlin", exempt: [],
  limits: [
    { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s", roles: { vip: { burst: 5 } } },
    { name: "daily", algorithm: "daily-window", messages: 300 },
    { name: "total", algorithm: "user-window", messages: 1000, every: "24h0m0s", per: "user-everywhere" },
  ],
  penalties: { ladder: [], strike_every: "10s", forget_after: "30m0s" },
};

// tried returns the limits of the draft and what became of a text.
function tried(text, change = () => {}) {
  const draft = draftOf(policy);
  change(draft);
  const { draft: filled, tried } = withTried({ policy, draft }, text);
  return { limits: policyOf({ policy, draft: filled }).limits, draft: filled, ...tried };
}

test("tried: fills the numbers of the limit of that name, and keeps the rest", () => {
  const { limits, filled, added, wrong } = tried("burst:burst=2,refill=6s");
  assert.deepEqual(limits, [{ ...policy.limits[0], burst: 2, refill: "6s" }, ...policy.limits.slice(1)]);
  assert.deepEqual([filled, added, wrong], [["burst"], [], []]);
});

test("tried: several limits, durations as the API writes them, and a day in the channel's zone", () => {
  const { limits, filled, draft } = tried("burst:token-bucket,refill=1m30.5s;daily:messages=200,timezone=Europe/Berlin,reset_at=04:30", ({ limits }) => (limits[1].isRemoved = true));
  assert.deepEqual(limits.slice(0, 2), [{ ...policy.limits[0], refill: "1m30.5s" }, { ...policy.limits[1], messages: 200, reset_at: "04:30" }]);
  assert.deepEqual(filled, ["burst", "daily"]);
  assert.equal(draft.limits[0].texts.refill, "1 minute 30.5 seconds");
});

test("tried: a limit of a new name is added, if its algorithm is known", () => {
  assert.deepEqual(tried("slow:sliding-log,messages=5,per=channel,count_throttled=true").limits.at(-1),
    { name: "slow", algorithm: "sliding-log", messages: 5, every: "30s", per: "channel", count_throttled: true });
  assert.deepEqual(tried("slow:burst=2,refill=6s").added, ["slow"], "only a token bucket has just these numbers");
  const { limits, added, wrong } = tried("slow:messages=5,every=6s");
  assert.deepEqual([limits.length, added, wrong], [3, [], ["There is no limit slow, and the address doesn’t name its algorithm."]]);
});

test("tried: another algorithm", () => {
  const { limits, filled } = tried("burst:sliding-log,messages=7,every=30s");
  assert.deepEqual(limits[0], { name: "burst", algorithm: "sliding-log", messages: 7, every: "30s", roles: { vip: { messages: 5 } } });
  assert.deepEqual(filled, ["burst"]);
});

test("tried: a limit on repeated text", () => {
  const { limits, wrong } = tried("copies:sliding-log,messages=3,every=30s,per=text,similar=true,from_length=20,strikes=true");
  assert.deepEqual(limits.at(-1), { name: "copies", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", from_length: 20, similar: true, strikes: true });
  assert.deepEqual(wrong, []);
  assert.deepEqual(tried("burst:similar=true").wrong, ["burst: “similar” is not a number of a token bucket."]);
});

test("tried: what is wrong or unknown is named, and not filled in", () => {
  const texts = {
    "burst:burst=0": "burst: burst “0”: Enter a whole number, 1 or more.",
    "burst:refill=soon": "burst: refill “soon”: Enter a duration, such as 30m, 1h30 or 90 seconds.",
    "burst:rate=9": "burst: “rate” is not a number of a token bucket.",
    "burst:__proto__=9": "burst: “__proto__” is not a number of a token bucket.",
    "burst:per=everywhere": "burst: per “everywhere”: Enter one of: user, channel, user-text, text.",
    "burst:count_throttled=often": "burst: “count_throttled” is not a number of a token bucket.",
    "burst:token-bucket,twice": "burst: “twice” is unknown.",
    "burst:constructor": "burst: there is no algorithm “constructor”.",
    "daily:timezone=Mars/Olympus": "daily: timezone “Mars/Olympus”: Enter a time zone, such as Europe/Berlin.",
    "daily:reset_at=25:00": "daily: reset_at “25:00”: Enter a time of day, 00:00 to 23:59.",
    "daily:period=year": "daily: period “year”: Enter one of: day, week, month.",
    "total:messages=5": "total applies across all channels. It can’t be changed here.",
    "burst=2": "“burst=2” doesn’t name a limit.",
    "<b>:token-bucket": "“<b>” can’t be the name of a limit.",
    "slow:token-bucket,burst=0": "slow was not added: burst “0”: Enter a whole number, 1 or more.",
    " ": "The address has no numbers.",
  };
  for (const [text, problem] of Object.entries(texts)) {
    const { draft, filled, added, wrong } = tried(text);
    assert.deepEqual([filled, added, wrong], [[], [], [problem]], text);
    assert.equal(isDirty({ policy, draft }), false, text);
  }
});

test("tried: the right parts of a partly wrong text are filled in", () => {
  const { limits, filled, wrong } = tried("burst:burst=2,refill=x");
  assert.deepEqual([limits[0].burst, limits[0].refill, filled, wrong.length], [2, "4s", ["burst"], 1]);
});

test("tried: long texts are clipped, and too many limits named", () => {
  assert.ok(tried(`burst:burst=${"9".repeat(5000)}`).wrong[0].length < 120);
  assert.match(tried("burst:burst=2;".repeat(9)).wrong[0], /^Only the first 8 of 9/);
});
