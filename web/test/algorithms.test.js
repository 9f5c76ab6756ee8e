import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { state } from "../static/app/core/state.js";
import { algorithmNames, algorithmOf, amount, bytesOf, fieldsOf, roleFields, scopesOf, switchesOf } from "../static/app/words/algorithms.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

test("meaning: what a limit's numbers come to", () => {
  const limits = [
    ["token-bucket", { burst: 3, refill: 600 }, "Long-term rate: 6 per hour. A full burst of 3 refills in 30 minutes."],
    ["token-bucket", { burst: 1, refill: 7 }, "Long-term rate: about 8.57 per minute."],
    ["leaky-bucket", { every: 1.5, queue: 3 }, "Long-term rate: 40 per minute. If 4 arrive at once, the last waits 4.5 seconds. " +
      "On Twitch, messages are never delayed, only throttled when the queue is full."],
    ["leaky-bucket", { every: 5400, queue: 0 }, "Long-term rate: 16 per day. A message less than 1 hour 30 minutes after the previous one is throttled."],
    ["fixed-window", { messages: 600, every: 60 }, "Long-term rate: 600 per minute. Windows follow the UTC clock. Up to 1,200 messages can pass in a row when one window ends and the next begins."],
    ["user-window", { messages: 100, every: 43200 }, "Long-term rate: 200 per day. A window begins with its first message and resets 12 hours later."],
    ["user-window", { messages: 1000, every: 86400 }, "Long-term rate: 1,000 per day. A window begins with its first message and resets 1 day later."],
    ["sliding-window", { messages: 6_000_000, every: 2_592_000 }, "Long-term rate: 200,000 per day. Estimated: the messages of the previous window are assumed to be evenly spread."],
    ["sliding-log", { messages: 20, every: 90 }, "Long-term rate: 800 per hour. Each message counts for exactly 1 minute 30 seconds."],
    ["sliding-log", { messages: 1, every: 1_209_600 }, "Long-term rate: 1 per 14 days. Each message counts for exactly 14 days."],
  ];
  for (const [algorithm, numbers, words] of limits) assert.equal(algorithmOf({ algorithm }).meaning(numbers, {}, ""), words);
});

test("rule: a limit in words", () => {
  const limits = [
    ["token-bucket", { burst: 3, refill: 4 }, "3 messages, then one every 4 seconds"],
    ["token-bucket", { burst: 1, refill: 60 }, "One message every minute"],
    ["leaky-bucket", { every: 2, queue: 3 }, "One message every 2 seconds, with 3 more waiting"],
    ["leaky-bucket", { every: 1, queue: 0 }, "One message every second"],
    ["fixed-window", { messages: 1200, every: 300 }, "1,200 messages every 5 minutes by the clock"],
    ["daily-window", { messages: 300 }, "300 messages a day, until midnight UTC"],
    ["user-window", { messages: 30, every: 3600 }, "30 messages in 1 hour, from the first one on"],
    ["sliding-window", { messages: 100, every: 3600 }, "About 100 messages in any hour"],
    ["sliding-window", { messages: 100, every: 3600, slices: 6 }, "About 100 messages in any hour, counted in 6 slices"],
    ["sliding-log", { messages: 1, every: 90 }, "1 message in any 1 minute 30 seconds"],
  ];
  for (const [algorithm, numbers, words] of limits) assert.equal(algorithmOf({ algorithm }).rule(numbers, {}, ""), words);
});

test("rule: a limit on repeated text in words, whatever its algorithm", () => {
  const limits = [
    ["token-bucket", { burst: 3, refill: 4 }, "The same message 3 times, then once every 4 seconds"],
    ["token-bucket", { burst: 1, refill: 60 }, "The same message once every minute"],
    ["fixed-window", { messages: 2, every: 300 }, "The same message 2 times every 5 minutes by the clock"],
    ["daily-window", { messages: 3 }, "The same message 3 times a day, until midnight UTC"],
    ["daily-window", { messages: 1 }, "The same message once a week, until Monday at midnight UTC", { period: "week" }],
    ["daily-window", { messages: 3 }, "The same message 3 times a month, until the 1st at midnight UTC", { period: "month" }],
    ["user-window", { messages: 3, every: 3600 }, "The same message 3 times in 1 hour, from the first one on"],
    ["sliding-window", { messages: 3, every: 60 }, "The same message about 3 times in any minute"],
    ["sliding-window", { messages: 3, every: 60, slices: 6 }, "The same message about 3 times in any minute, counted in 6 slices"],
    ["sliding-log", { messages: 3, every: 60 }, "The same message 3 times in any minute"],
    ["sliding-log", { messages: 1, every: 30, reserve: 0 }, "The same message once in any 30 seconds"],
    ["cascade", { burst: 3, refill: 4, extra_burst: 2, extra_refill: 20 }, "The same message 3 times, then once every 4 seconds; at low priority 2 times more, then once every 20 seconds"],
  ];
  for (const [algorithm, numbers, words, more] of limits) {
    for (const per of ["user-text", "text"]) assert.equal(algorithmOf({ algorithm }).rule(numbers, { ...more, per }, ""), words);
    assert.equal(algorithmOf({ algorithm }).brief(numbers, { ...more, per: "text" }, ""), words);
    assert.equal(algorithmOf({ algorithm }).meaning(numbers, { ...more, per: "text" }, ""), "", "a rate would be each text's");
  }
  assert.deepEqual(algorithmNames().filter((algorithm) => !limits.some(([known]) => known === algorithm)), ["leaky-bucket"]);
});

test("fieldsOf: a limit on repeated text has more, if its algorithm can count texts", () => {
  assert.deepEqual(scopesOf({ algorithm: "token-bucket" }), ["user", "channel", "user-text", "text"]);
  assert.deepEqual(scopesOf({ algorithm: "leaky-bucket" }), ["user", "channel"]);
  const had = (per) => [Object.keys(fieldsOf({ algorithm: "sliding-log", per })), switchesOf({ algorithm: "sliding-log", per })];
  assert.deepEqual(had("user-text"), [["messages", "every", "reserve", "from_length"], ["similar", "count_emotes"]]);
  assert.deepEqual(had("text"), [["messages", "every", "reserve", "from_length"], ["similar", "count_emotes", "strikes"]]);
  for (const per of [undefined, "user", "channel"]) assert.deepEqual(had(per), [["messages", "every", "reserve"], []]);
  const { from_length: length } = fieldsOf({ algorithm: "sliding-log", per: "text" });
  assert.deepEqual([length.least, length.most, length.usual, length.unit, length.isRare], [1, 500, 12, "characters", false]);
});

test("rule: a day ends in the limit's time zone, else in the channel's", () => {
  const ends = (limit, zone) => algorithmOf({ algorithm: "daily-window" }).rule({ messages: 300 }, limit, zone);
  assert.equal(ends({}, "Europe/Berlin"), "300 messages a day, until midnight in Europe/Berlin");
  assert.equal(ends({ reset_at: "04:30" }, "Europe/Berlin"), "300 messages a day, until 04:30 in Europe/Berlin");
  assert.equal(ends({ reset_at: "00:00", timezone: "America/New_York" }, "Europe/Berlin"), "300 messages a day, until midnight in America/New_York");
  assert.equal(ends({ period: "week" }, ""), "300 messages a week, until Monday at midnight UTC");
  assert.equal(ends({ period: "week", first_day: "sunday", reset_at: "04:30" }, "Europe/Berlin"), "300 messages a week, until Sunday at 04:30 in Europe/Berlin");
  assert.equal(ends({ period: "month" }, "Europe/Berlin"), "300 messages a month, until the 1st at midnight in Europe/Berlin");
});

test("every algorithm that chatguard lists has words, and begins with its own numbers", () => {
  for (const algorithm of algorithmNames()) {
    const { start, fields, name, about } = algorithmOf({ algorithm });
    assert.match(about, /\.$/, `${algorithm} has no words`);
    for (const [field, { label, isRare }] of Object.entries(fields)) {
      assert.ok(isRare || start[field] !== undefined, `${name}: ${field}`);
      assert.match(label, /^[A-Z]/);
    }
  }
  assert.deepEqual(algorithmOf({ algorithm: "token-bucket" }).start, { burst: 3, refill: "4s" });
  assert.deepEqual(algorithmOf({ algorithm: "sliding-log" }).start, { messages: 10, every: "30s" });
});

test("algorithmOf: bounds are chatguard’s", () => {
  const { burst, refill } = algorithmOf({ algorithm: "token-bucket" }).fields;
  assert.deepEqual([burst.least, burst.most, burst.isLength], [1, 2 ** 31 - 1, false]);
  assert.deepEqual([refill.least, refill.isLength], [0.000001, true]);
  assert.equal(algorithmOf({ algorithm: "sliding-log" }).fields.messages.most, 1024);
  assert.equal(algorithmOf({ algorithm: "daily-window" }).hasDay, true);
});

// listing runs a check while chatguard lists another algorithm.
function listing(added, check) {
  const { algorithms } = state;
  state.algorithms = [...algorithms, added];
  check();
  state.algorithms = algorithms;
}

/** @param {string} name @param {object} [news] */
const count = (name, news) => ({ name, kind: "count", least: 1, most: 100, suggested: 5, overridable: true, ...news });

test("algorithmOf: an algorithm without words has its parameters as fields", () => {
  listing({ name: "new-one", parameters: [count("big_steps"), count("rest", { least: 0, suggested: 0, overridable: false }), { ...count("per"), kind: "duration", most: 9e9, suggested: 2e9 }], state_bytes: 24 }, () => {
    const { name, start, fields, ownFields, rule } = algorithmOf({ algorithm: "new-one" });
    assert.deepEqual([name, start], ["new-one", { big_steps: 5, per: "2s" }]);
    assert.deepEqual(Object.values(fields).map(({ label, most, isRare }) => [label, most, isRare]), [["Big steps", 100, false], ["Rest", 100, true], ["Per", 9, false]]);
    assert.deepEqual(Object.keys(ownFields), ["big_steps", "per"]);
    assert.equal(rule({ big_steps: 5, rest: 0, per: 2 }, {}, ""), "new-one, big steps 5, rest 0, per 2");
    assert.equal(bytesOf({ algorithm: "new-one" }), 24);
  });
});

test("algorithmOf: a cascade, and a reserve", () => {
  const { fields, rule, meaning } = algorithmOf({ algorithm: "cascade" });
  const numbers = { burst: 3, refill: 4, extra_burst: 2, extra_refill: 20 };
  assert.deepEqual(Object.keys(fields), Object.keys(numbers));
  assert.equal(rule(numbers, {}, ""), "3 messages, then one every 4 seconds; at low priority 2 more, then one every 20 seconds");
  assert.match(meaning(numbers, {}, ""), /^Long-term rate: 15 per minute, and 3 per minute more at low priority\./);
  const { reserve } = algorithmOf({ algorithm: "token-bucket" }).fields;
  assert.deepEqual([reserve.label, reserve.least, reserve.isRare], ["Kept for normal priority", 0, true]);
  assert.equal(algorithmOf({ algorithm: "token-bucket" }).rule({ burst: 10, refill: 1, reserve: 4 }, {}, ""), "10 messages, then one every second; keeps 4 for normal priority");
});

test("algorithmOf: before the list is loaded, an algorithm has words and no fields", () => {
  const { algorithms } = state;
  state.algorithms = [];
  assert.deepEqual(algorithmOf({ algorithm: "token-bucket" }).fields, {});
  assert.equal(algorithmOf({ algorithm: "token-bucket" }).name, "token bucket");
  assert.equal(algorithmOf({ algorithm: "new" }).name, "new");
  state.algorithms = algorithms;
});

test("bytesOf: as chatguard lists it, a log by its messages", () => {
  assert.deepEqual([{ algorithm: "token-bucket" }, { algorithm: "sliding-log", messages: 10 }, { algorithm: "unknown" }].map(bytesOf), [8, 88, 0]);
});

test("roleFields: all but the window, and all may be empty", () => {
  assert.deepEqual(Object.keys(roleFields({ algorithm: "leaky-bucket" })), ["queue"]);
  assert.deepEqual(Object.keys(roleFields({ algorithm: "token-bucket" })), ["burst", "refill"]);
  assert.ok(Object.values(roleFields({ algorithm: "token-bucket" })).every((field) => field.mayBeEmpty));
});

test("amount: groups thousands, and rounds to a thousandth", () => {
  assert.equal(amount(15750), "15,750");
  assert.equal(amount(1.23456), "1.235");
});
