import assert from "node:assert/strict";
import test from "node:test";
import { draftOf, draftRole, isDirty, lengthFields, newLimit, policyOf } from "../static/app/limits/draft.js";
import { errorsOf } from "../static/app/limits/draft-errors.js";
import { wrongNumber, wrongZone } from "../static/app/words/typed.js";

// policy returns a policy with every kind of number. One duration has more digits than a JavaScript
// number can represent.
const policy = () => ({
  mode: "enforce", timezone: "", exempt: ["moderator"],
  limits: [
    { name: "burst", algorithm: "token-bucket", burst: 3, refill: "10m0s", roles: { vip: { burst: 5 } } },
    { name: "daily", algorithm: "daily-window", messages: 300 },
    { name: "slow", algorithm: "leaky-bucket", every: "2400h0m0.000000001s", queue: 3 },
    { name: "crowd", algorithm: "fixed-window", messages: 600, every: "1m0s", per: "channel", mode: "observe", count_throttled: true },
    { name: "exact", algorithm: "sliding-log", messages: 20, every: "1m30s" },
    { name: "total", algorithm: "user-window", messages: 1000, every: "24h0m0s", per: "user-everywhere" },
  ],
  penalties: { ladder: ["delete", "timeout 30s", "timeout refill"], strike_every: "10s", forget_after: "30m0s" },
});

// edited returns the policy that a draft describes after a change.
function edited(change) {
  const loaded = policy();
  const draft = draftOf(loaded);
  change(draft);
  return policyOf({ policy: loaded, draft });
}

test("draft: what isn't changed comes back to the letter", () => {
  assert.deepEqual(edited(() => {}), policy());
  assert.equal(isDirty({ policy: policy(), draft: draftOf(policy()) }), false);
});

test("draft: numbers are edited as texts, durations in seconds", () => {
  const [burst, daily, slow] = draftOf(policy()).limits;
  assert.deepEqual(burst.texts, { burst: "3", refill: "600" });
  assert.deepEqual(burst.roles.map(({ role, texts }) => [role, texts]), [["vip", { burst: "5", refill: "" }]]);
  assert.deepEqual(daily.texts, { messages: "300" });
  assert.equal(slow.texts.queue, "3");
  assert.deepEqual(draftOf(policy()).rungs, [{ action: "delete", length: "" }, { action: "timeout", length: "30" }, { action: "timeout refill", length: "" }]);
});

test("draft: changed numbers, and those of a role", () => {
  const [burst, , slow] = edited(({ limits }) => {
    Object.assign(limits[0].texts, { burst: " 7 ", refill: "0.5" });
    Object.assign(limits[0].roles[0].texts, { burst: "", refill: "2.5" });
    limits[2].texts.queue = "0";
  }).limits;
  assert.deepEqual(burst, { name: "burst", algorithm: "token-bucket", burst: 7, refill: "0.5s", roles: { vip: { refill: "2.5s" } } });
  assert.deepEqual(slow, { name: "slow", algorithm: "leaky-bucket", every: "2400h0m0.000000001s", queue: 0 });
});

test("draft: roles come and go", () => {
  const [burst, daily] = edited(({ limits }) => {
    limits[0].roles = [];
    limits[1].roles.push(draftRole(limits[1].source, "subscriber"));
  }).limits;
  assert.equal(burst.roles, undefined);
  assert.deepEqual(daily.roles, { subscriber: {} });
});

test("draft: a day's end, a mode, a scope and what counts are stated only if they differ", () => {
  const { limits, timezone } = edited((draft) => {
    Object.assign(draft, { timezone: " Europe/Berlin " });
    Object.assign(draft.limits[1], { resetAt: "04:30", timezone: "America/New_York", observes: true });
    Object.assign(draft.limits[3], { per: "user", observes: false, countsThrottled: false });
  });
  assert.equal(timezone, "Europe/Berlin");
  assert.deepEqual(limits[1], { name: "daily", algorithm: "daily-window", messages: 300, reset_at: "04:30", timezone: "America/New_York", mode: "observe" });
  assert.deepEqual(limits[3], { name: "crowd", algorithm: "fixed-window", messages: 600, every: "1m0s" });
});

test("draft: limits come and go", () => {
  const { limits } = edited((draft) => {
    draft.limits[0].isRemoved = true;
    draft.limits.push(newLimit("sliding-log", draft.limits));
  });
  assert.deepEqual(limits.map(({ name }) => name), ["daily", "slow", "crowd", "exact", "total", "sliding-log"]);
  assert.deepEqual(limits.at(-1), { name: "sliding-log", algorithm: "sliding-log", messages: 10, every: "30s" });
});

test("newLimit: has a name that no other has", () => {
  const others = [];
  for (let i = 0; i < 3; i++) others.push(newLimit("token-bucket", others));
  assert.deepEqual(others.map(({ name }) => name), ["token-bucket", "token-bucket-2", "token-bucket-3"]);
});

test("draft: penalties", () => {
  const { penalties } = edited(({ rungs, lengths }) => {
    rungs.unshift(...rungs.splice(1, 1));
    rungs.push({ action: "timeout", length: " 3600 " });
    lengths.strike_every = "20";
  });
  assert.deepEqual(penalties, { ladder: ["timeout 30s", "delete", "timeout refill", "timeout 3600s"], strike_every: "20s", forget_after: "30m0s" });
});

// errors returns the errors of a draft after a change.
function errors(change) {
  const loaded = policy();
  const draft = draftOf(loaded);
  change(draft);
  return errorsOf({ policy: loaded, draft });
}

test("errors: none in what was loaded", () => {
  assert.deepEqual(errors(() => {}), {});
});

test("errors: numbers out of bounds", () => {
  const wrong = [
    [0, "burst", "0", "Enter a whole number, 1 or more."],
    [0, "burst", "2147483648", "Enter at most 2,147,483,647."],
    [0, "refill", "1e3", "Enter a number of seconds, 0.001 or more."],
    [0, "refill", "12h", "Enter a number of seconds, 0.001 or more."],
    [0, "refill", "1152921505", "Enter at most 1,152,921,504."],
    [1, "messages", "2.5", "Enter a whole number, 1 or more."],
    [2, "every", "0", "Enter a number of seconds, 0.001 or more."],
    [2, "queue", "-1", "Enter a whole number, 0 or more."],
    [2, "queue", "2147483647", "Enter at most 2,147,483,646."],
    [3, "messages", "1.5", "Enter a whole number, 1 or more."],
    [4, "messages", "1025", "Enter at most 1,024."],
    [4, "messages", "", "Enter a whole number, 1 or more."],
  ];
  for (const [i, field, text, error] of wrong) assert.deepEqual(errors(({ limits }) => (limits[i].texts[field] = text)), { [`${field}-${i}`]: error });
  for (const [i, field, text] of [[0, "refill", "0.5"], [2, "queue", "0"], [4, "messages", "1024"], [0, "refill", ".5"]]) {
    assert.deepEqual(errors(({ limits }) => (limits[i].texts[field] = text)), {});
  }
});

test("errors: a role's number may be empty", () => {
  const empty = "Enter a whole number, 1 or more. Leave empty to inherit.";
  assert.deepEqual(errors(({ limits }) => (limits[0].roles[0].texts.burst = "0")), { "burst-0-vip": empty });
  assert.deepEqual(errors(({ limits }) => (limits[0].roles[0].texts.burst = "")), {});
});

test("errors: the name of a new limit", () => {
  const named = (name) => errors(({ limits }) => limits.push({ ...newLimit("sliding-log", limits), name }));
  assert.deepEqual(named("teatime"), {});
  assert.deepEqual(named("burst"), { "name-6": "Another limit has this name. Enter a different one." });
  for (const name of ["tea time", "", "a".repeat(65)]) assert.deepEqual(named(name), { "name-6": "Enter 1 to 64 letters, digits, - or _." });
});

test("errors: time zones and the end of a day", () => {
  const zone = "Enter a time zone, such as Europe/Berlin.";
  assert.deepEqual(errors((draft) => {
    draft.timezone = "there";
    Object.assign(draft.limits[1], { resetAt: "24:00", timezone: "Europe/Nowhere" });
  }), { zone, "reset_at-1": "Enter a time of day, 00:00 to 23:59.", "timezone-1": zone });
  assert.equal(wrongZone(""), "");
  assert.equal(wrongZone("America/New_York"), "");
});

test("errors: the duration of a timeout", () => {
  const timeout = (length) => errors(({ rungs }) => (rungs[1].length = length));
  assert.deepEqual(timeout("1209600"), {});
  assert.deepEqual(timeout("1209601"), { "rung-1": "Enter at most 1,209,600 seconds (two weeks)." });
  for (const length of ["0", "1.5", ""]) assert.deepEqual(timeout(length), { "rung-1": "Enter a whole number of seconds, 1 or more." });
});

test("errors: durations of penalties may be 0", () => {
  assert.equal(wrongNumber(lengthFields.strike_every, "0"), "");
  assert.equal(wrongNumber(lengthFields.strike_every, "x"), "Enter a number of seconds, 0 or more.");
});

test("errors: limits that can't be changed here, or are removed, have none", () => {
  assert.deepEqual(errors(({ limits }) => (limits[5].texts.messages = "0")), {});
  assert.deepEqual(errors(({ limits }) => {
    limits[0].texts.burst = "0";
    limits[0].isRemoved = true;
  }), {});
});
