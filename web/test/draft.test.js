import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { withAlgorithm } from "../static/app/limits/algorithm.js";
import { draftOf, draftRole, draftTowards, isDirty, lengthFields, loadedOf, newLimit, policyOf } from "../static/app/limits/draft.js";
import { errorsOf } from "../static/app/limits/draft-errors.js";
import { wrongNumber, wrongZone } from "../static/app/words/typed.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules", "limits");

// policy returns a policy with every kind of number. One duration has more digits than a JavaScript
// number can represent.
const policy = () => ({
  mode: "enforce", timezone: "", exempt: ["moderator"], exempt_messages: [],
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

test("draft: numbers are edited as texts, durations in words", () => {
  const [burst, daily, slow] = draftOf(policy()).limits;
  assert.deepEqual(burst.texts, { burst: "3", refill: "10 minutes", reserve: "0", from_length: "12" });
  assert.deepEqual(burst.roles.map(({ role, texts }) => [role, texts]), [["vip", { burst: "5", refill: "" }]]);
  assert.deepEqual(daily.texts, { messages: "300", reserve: "0", from_length: "12" });
  assert.equal(slow.texts.queue, "3");
  assert.deepEqual(draftOf(policy()).rungs, [{ action: "delete", length: "" }, { action: "timeout", length: "30 seconds" }, { action: "timeout refill", length: "" }]);
});

test("draft: changed numbers, and those of a role", () => {
  const [burst, , slow] = edited(({ limits }) => {
    Object.assign(limits[0].texts, { burst: " 7 ", refill: "0.5" });
    Object.assign(limits[0].roles[0].texts, { burst: "", refill: "2.5 s" });
    limits[2].texts.queue = "0";
  }).limits;
  assert.deepEqual(burst, { name: "burst", algorithm: "token-bucket", burst: 7, refill: "500ms", roles: { vip: { refill: "2.5s" } } });
  assert.deepEqual(slow, { name: "slow", algorithm: "leaky-bucket", every: "2400h0m0.000000001s", queue: 0 });
});

test("draft: a number that a limit does without", () => {
  const stated = (reserve) => edited(({ limits }) => (limits[0].texts.reserve = reserve)).limits[0].reserve;
  assert.deepEqual([stated("0"), stated("2")], [undefined, 2]);
  assert.deepEqual(errors(({ limits }) => (limits[0].texts.reserve = "-1")), { "reserve-0": "Enter a whole number, 0 or more." });
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
  const week = edited((draft) => Object.assign(draft.limits[1], { period: "week", firstDay: "sunday" })).limits[1];
  assert.deepEqual([week.period, week.first_day], ["week", "sunday"]);
  const month = edited((draft) => Object.assign(draft.limits[1], { period: "month", firstDay: "sunday" })).limits[1];
  assert.deepEqual([month.period, month.first_day], ["month", undefined], "only a week has a first day");
  assert.deepEqual(limits[3], { name: "crowd", algorithm: "fixed-window", messages: 600, every: "1m0s" });
});

test("draft: what a limit on repeated text has is stated only for one", () => {
  const per = (scope, more = () => {}) => edited(({ limits }) => {
    limits[4].per = scope;
    more(limits[4]);
  }).limits[4];
  const ticked = (limit) => Object.assign(limit, { ticks: { similar: true, count_emotes: true, strikes: true }, texts: { ...limit.texts, from_length: "20" } });
  const exact = { name: "exact", algorithm: "sliding-log", messages: 20, every: "1m30s" };
  assert.deepEqual(per("user-text"), { ...exact, per: "user-text" }, "the usual length isn't stated");
  assert.deepEqual(per("text", ticked), { ...exact, per: "text", similar: true, from_length: 20, count_emotes: true, strikes: true });
  assert.deepEqual(per("user-text", ticked), { ...exact, per: "user-text", similar: true, from_length: 20, count_emotes: true });
  assert.deepEqual(per("channel", ticked), { ...exact, per: "channel" });
  const wrong = (scope) => errors(({ limits }) => {
    limits[4].per = scope;
    limits[4].texts.from_length = "501";
  });
  assert.deepEqual([wrong("text"), wrong("user")], [{ "from_length-4": "Enter a whole number from 1 to 500." }, {}]);
});

test("draft: a limit on repeated text comes back to the letter, also after another kind", () => {
  const copies = { name: "copies", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", similar: true, from_length: 20, strikes: true };
  const loaded = { ...policy(), limits: [copies] };
  const draft = draftOf(loaded);
  assert.deepEqual(policyOf({ policy: loaded, draft }), loaded);
  draft.limits[0] = withAlgorithm(draft.limits[0], copies, "token-bucket");
  assert.deepEqual(policyOf({ policy: loaded, draft }).limits[0], { name: "copies", algorithm: "token-bucket", burst: 3, refill: "10s", per: "text", similar: true, from_length: 20, strikes: true });
  draft.limits[0] = withAlgorithm(draft.limits[0], copies, "sliding-log");
  assert.deepEqual(policyOf({ policy: loaded, draft }), loaded);
  draft.limits[0].per = "user";
  assert.deepEqual(policyOf({ policy: loaded, draft }).limits[0], { name: "copies", algorithm: "sliding-log", messages: 3, every: "30s" });
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
  const { id, name } = newLimit("token-bucket", others.map((limit) => ({ ...limit, name: "renamed" })));
  assert.deepEqual([id, name], ["new token-bucket-4", "token-bucket-4"], "and an ID that no other has");
});

test("draft: penalties", () => {
  const { penalties } = edited(({ rungs, lengths }) => {
    rungs.unshift(...rungs.splice(1, 1));
    rungs.push({ action: "timeout", length: " 1h30 " });
    lengths.strike_every = "20";
    lengths.forget_after = "0.5h"; // as before
  });
  assert.deepEqual(penalties, { ladder: ["timeout 30s", "delete", "timeout refill", "timeout 1h30m"], strike_every: "20s", forget_after: "30m0s" });
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
    [0, "refill", "1e3", "Enter a duration, such as 30m, 1h30 or 90 seconds."],
    [0, "refill", "0.0000001", "Enter at least 0.000001 seconds."],
    [0, "refill", "53376d", "Enter at most 53375 days."],
    [3, "every", "13344d", "Enter at most 13343 days."],
    [1, "messages", "2.5", "Enter a whole number, 1 or more."],
    [2, "every", "0", "Enter at least 0.000001 seconds."],
    [2, "queue", "-1", "Enter a whole number, 0 or more."],
    [2, "queue", "2147483647", "Enter at most 2,147,483,646."],
    [3, "messages", "1.5", "Enter a whole number, 1 or more."],
    [4, "messages", "1025", "Enter a whole number from 1 to 1,024."],
    [4, "messages", "", "Enter a whole number from 1 to 1,024."],
  ];
  for (const [i, field, text, error] of wrong) assert.deepEqual(errors(({ limits }) => (limits[i].texts[field] = text)), { [`${field}-${i}`]: error });
  for (const [i, field, text] of [[0, "refill", "0.5"], [2, "queue", "0"], [4, "messages", "1024"], [0, "refill", ".5"], [0, "refill", "12h"], [0, "refill", "53375 days"], [3, "every", "13343 days"]]) {
    assert.deepEqual(errors(({ limits }) => (limits[i].texts[field] = text)), {});
  }
});

test("errors: a role's number may be empty", () => {
  const empty = "Enter a whole number, 1 or more. Leave empty to inherit.";
  assert.deepEqual(errors(({ limits }) => (limits[0].roles[0].texts.burst = "0")), { "burst-0-vip": empty });
  assert.deepEqual(errors(({ limits }) => (limits[0].roles[0].texts.burst = "")), {});
});

test("draft: a length of time keeps every nanosecond", () => {
  const [, , slow] = edited(({ limits }) => (limits[2].texts.every = limits[2].texts.every.replace("100 days", "99 days"))).limits;
  assert.equal(slow.every, "2376h0m0.000000001s");
});

test("draft: limits change their order", () => {
  const { limits } = edited((draft) => draft.limits.unshift(draft.limits.pop()));
  assert.deepEqual(limits.map(({ name }) => name), ["total", "burst", "daily", "slow", "crowd", "exact"]);
});

// converted returns a limit of the policy with another algorithm.
function converted(index, algorithm, news = {}) {
  const loaded = policy();
  const draft = draftOf(loaded);
  Object.assign(draft.limits[index].texts, news);
  draft.limits[index] = withAlgorithm(draft.limits[index], loaded.limits[index], algorithm);
  return policyOf({ policy: loaded, draft }).limits[index];
}

test("withAlgorithm: keeps the messages at once and the rate", () => {
  assert.deepEqual(converted(0, "leaky-bucket"), { name: "burst", algorithm: "leaky-bucket", every: "10m", queue: 2, roles: { vip: { queue: 4 } } });
  assert.deepEqual(converted(0, "sliding-window"), { name: "burst", algorithm: "sliding-window", messages: 3, every: "30m", roles: { vip: { messages: 5 } } });
  assert.deepEqual(converted(0, "daily-window"), { name: "burst", algorithm: "daily-window", messages: 144, roles: { vip: {} } });
  assert.deepEqual(converted(1, "token-bucket"), { name: "daily", algorithm: "token-bucket", burst: 300, refill: "4m48s" });
  assert.deepEqual(converted(4, "fixed-window"), { name: "exact", algorithm: "fixed-window", messages: 20, every: "1m30s" });
  assert.deepEqual(converted(3, "sliding-log"), { name: "crowd", algorithm: "sliding-log", messages: 600, every: "1m", per: "channel", mode: "observe", count_throttled: true });
  assert.deepEqual(converted(1, "sliding-log", { messages: "2048" }), { name: "daily", algorithm: "sliding-log", messages: 1024, every: "11h59m59.488s" });
  assert.deepEqual(converted(0, "daily-window", { refill: "soon" }), { name: "burst", algorithm: "daily-window", messages: 300 }, "wrong numbers are replaced");
});

test("withAlgorithm: the limit's own algorithm brings back its own numbers", () => {
  const loaded = policy();
  const draft = draftOf(loaded);
  for (const algorithm of ["daily-window", "token-bucket"]) draft.limits[0] = withAlgorithm(draft.limits[0], loaded.limits[0], algorithm);
  assert.equal(isDirty({ policy: loaded, draft }), false);
});

test("draftTowards: a draft of known and new limits", () => {
  const loaded = policy();
  assert.equal(isDirty({ policy: loaded, draft: draftTowards(loaded, policy()) }), false);
  const wanted = { ...policy(), limits: [{ name: "new", algorithm: "sliding-log", messages: 5, every: "30s" }, { ...policy().limits[1], messages: 9 }, { ...policy().limits[0], roles: { subscriber: { burst: 4 } } }] };
  const draft = draftTowards(loaded, wanted);
  assert.deepEqual(policyOf({ policy: loaded, draft }), wanted);
  assert.deepEqual(draft.limits.map(({ name, isNew, isRemoved }) => `${name} ${isNew} ${isRemoved}`), ["new true false", "daily false false", "burst false false",
    "slow false true", "crowd false true", "exact false true", "total false true"]);
  assert.deepEqual(draft.limits.map((limit) => loadedOf(loaded, limit)?.name), [undefined, "daily", "burst", "slow", "crowd", "exact", "total"]);
});

test("errors: the name of a limit", () => {
  const renamed = (name) => errors(({ limits }) => (limits[0].name = name));
  assert.deepEqual(renamed("flood"), {});
  assert.deepEqual(renamed("daily"), { "name-0": "Another limit has this name. Enter a different one." });
  assert.deepEqual(renamed("a.b"), { "name-0": "Enter 1 to 64 letters, digits, - or _." });
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
  for (const length of ["14d", "1209600", "1h30"]) assert.deepEqual(timeout(length), {});
  assert.deepEqual(timeout("1209601"), { "rung-1": "Enter at most 14 days." });
  for (const length of ["0", "1.5"]) assert.deepEqual(timeout(length), { "rung-1": "Enter whole seconds, 1 or more." });
  for (const length of ["", "soon"]) assert.deepEqual(timeout(length), { "rung-1": "Enter a duration, such as 30s, 10m or 1h30." });
});

test("errors: durations of penalties may be 0", () => {
  assert.equal(wrongNumber(lengthFields.strike_every, "0"), "");
  assert.equal(wrongNumber(lengthFields.strike_every, "x"), "Enter a duration, such as 30m, 1h30 or 90 seconds.");
});

test("errors: limits that can't be changed here, or are removed, have none", () => {
  assert.deepEqual(errors(({ limits }) => (limits[5].texts.messages = "0")), {});
  assert.deepEqual(errors(({ limits }) => {
    limits[0].texts.burst = "0";
    limits[0].isRemoved = true;
  }), {});
});
