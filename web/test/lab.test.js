import assert from "node:assert/strict";
import test from "node:test";
import "../list-algorithms.js";
import { algorithmOf } from "../static/app/words/algorithms.js";
import { clockText, createClock, spanText } from "../static/lab/clock.js";
import { go, goDuration, json, toml } from "../static/lab/copy.js";
import { createQueue } from "../static/lab/engine.js";
import { closest, readField, stops, withPeriod } from "../static/lab/fields.js";
import { createTally, mostCopied } from "../static/lab/figures.js";
import { chatTexts, copiesOf, isSpam, personOf } from "../static/lab/chat/people.js";
import { withAlgorithm, withScope } from "../static/lab/limits.js";
import { nameOf, textWords } from "../static/lab/names.js";
import { groups, untilWithin, withoutText } from "../static/lab/schedule.js";
import { scenes } from "../static/lab/scenes.js";
import { parse } from "../static/lab/share.js";
import { extraOf, nextAfter, stripOf } from "../static/lab/tape.js";
import { quietSpammer } from "../static/lab/tasks.js";
import { asked, choicesOf, chosenOf, errorOf, isClear, kinds, lengthOf, rateOf, stretchOf, usual, withChannel, withField } from "../static/lab/traffic.js";
import { loadTexts, t } from "../testing/texts.js";

await loadTexts("words", "rules", "lab");

test("clock: lab time is wall time × speed, and stands while it is paused", () => {
  let wall = 1000;
  const clock = createClock(() => wall);
  wall += 500;
  assert.equal(clock.now(), 0);
  clock.play();
  wall += 500;
  assert.equal(clock.now(), 500);
  clock.setSpeed(10);
  wall += 100;
  assert.equal(clock.now(), 1500);
  assert.equal(clock.timeOf({ timeStamp: wall - 50 }), 1000); // a click that arrives late
  clock.pause();
  wall += 5000;
  assert.equal(clock.now(), 1500);
  clock.moveTo(72_000);
  assert.equal(clock.now(), 72_000);
});

test("clock: times in words", () => {
  assert.deepEqual([0, 72_440, 3_723_999].map(clockText), ["00:00:00.0", "00:01:12.4", "01:02:03.9"]);
  assert.deepEqual([0, 1, 2550, 2600, 59_999, 60_000, 72_000, 3_600_000, 11_040_000, 172_800_000, 599_700_000].map(spanText), ["0.0 s", "0.1 s", "2.6 s", "2.6 s", "1 min", "1 min", "1 min 12 s", "1 h", "3 h 4 min", "2 days", "6 days 23 h"]);
});

test("queue: one question at a time, and the newest wins", async () => {
  const asked = [], answered = [], waiting = [];
  const ask = createQueue((q) => (asked.push(q), new Promise((resolve) => waiting.push(resolve))), (q) => answered.push(q), () => {});
  ask(1);
  ask(2);
  ask(3);
  assert.deepEqual(asked, [1]);
  waiting.shift()();
  await new Promise(setImmediate);
  assert.deepEqual([asked, answered], [[1, 3], [1]]);
  waiting.shift()();
  await new Promise(setImmediate);
  assert.deepEqual(answered, [1, 3]);
});

test("queue: goes on after a failure", async () => {
  const failed = [], answered = [];
  const ask = createQueue(async (q) => assert.notEqual(q, 1), (q) => answered.push(q), (q) => failed.push(q));
  await ask(1);
  await ask(2);
  assert.deepEqual([failed, answered], [[1], [2]]);
});

const message = { user_id: "anna" };
const steps = [
  { allowed: true, limit: "", retry_after_ms: 0, delay_ms: 0, picture: { tokens: 0 } },
  { allowed: false, limit: "burst", retry_after_ms: 2600, delay_ms: 0, picture: { tokens: 0 } },
  { allowed: true, priority: "low", delay_ms: 4000, pictures: [{ tokens: 0 }, { count: 1 }] },
  { allowed: false, limit: "burst", retry_after_ms: null, picture: { tokens: 0 } },
];
const strip = stripOf([0, 12_400, 13_000, 14_000].map((at) => ({ ...message, at: 5000 + at })), { bytes_per_user: 16, steps }, 5000);

test("names: a message in words", () => {
  assert.deepEqual(strip.entries.map((entry) => nameOf(entry, 15_000)), [
    "At 0.0 s, passes", "At 12.4 s, throttled by burst, passes in 2.6 s", "At 13.0 s, waits, leaves in 2.0 s", "At 14.0 s, throttled by burst, never passes",
  ]);
  assert.equal(nameOf(strip.entries[2], 17_000), "At 13.0 s, passed after 4.0 s in the queue");
  assert.equal(nameOf({ ...strip.entries[0], at: 36_072_400, leaves: 36_072_400 }, 36_080_000), "At 10 h 1 min 12.4 s, passes");
  assert.equal(nameOf({ ...strip.entries[0], at: 72_400, leaves: 72_400, mark: "low" }, 80_000), "At 1 min 12.4 s, passes at low priority");
});

test("tape: without messages, an answer has no steps", () => {
  assert.deepEqual(stripOf([], { bytes_per_user: 16 }, 5000), { bytes: 16, entries: [], grants: [], hasUsers: false });
});

test("tape: whose messages a lane has", () => {
  const of = (...users) => stripOf(users.map((user) => ({ ...message, user_id: user, login: user === "7" ? "anna" : "" })), { bytes_per_user: 16, steps: steps.slice(0, users.length) }, 0);
  assert.deepEqual([of("7", "7").hasUsers, of("7", "8").hasUsers, of("7", "8").entries.map(({ name }) => name)], [false, true, ["anna", "8"]]);
});

test("tape: extra messages of the user whose state is shown, until they lapse", () => {
  const grants = [{ at: 2000, lane: 1, messages: 5, user: "anna" }, { at: 3000, lane: 1, messages: 9, user: "berta" }, { at: 6000, lane: 1, messages: 5, user: "anna" }];
  const lapse = [9000, 8000, 12_000].map((at) => ({ until: [at, null] }));
  const spent = { allowed: true, delay_ms: 0, pictures: [{ granted: 4 }, {}] };
  const lane = stripOf([{ ...message, at: 4000 }], { bytes_per_user: 16, steps: [spent], grants: lapse }, 0, grants);
  const at = (now, index = 0) => Object.values(extraOf(lane, index, now));
  assert.deepEqual([1000, 2000, 4000, 6000, 9000, 12_000].map((now) => at(now)), [[0, false], [5, true], [4, false], [9, true], [5, true], [0, false]]);
  assert.deepEqual(at(6000, 1), [0, false]); // shared by everybody
  assert.deepEqual([nextAfter(new Map([[1, lane]]), 0), nextAfter(new Map([[1, lane]]), 4000)], [2000, 6000]);
});

test("tape: the next thing that happens", () => {
  const tape = new Map([[1, strip]]);
  assert.deepEqual([-1, 0, 13_000, 14_000, 17_000].map((time) => nextAfter(tape, time)), [0, 12_400, 14_000, 17_000, Infinity]);
});

test("figures: up to the time that is shown", () => {
  const passed = [0, 100, 200, 1100, 61_000].map((at) => ({ at, leaves: at, mark: "passes", retry: 0, pictures: [{}] }));
  const tally = createTally([...passed, { at: 61_500, leaves: Infinity, mark: "throttled", retry: 3000, pictures: [] }, { at: 62_000, leaves: 64_000, mark: "low", retry: 0, pictures: [] }]);
  assert.equal(tally(50).allowed, 1);
  const copies = [];
  assert.deepEqual({ ...tally(2000) }, { copies, allowed: 4, low: 0, throttled: 0, mostInSecond: 3, mostInMinute: 4, longestWait: 0, longestDelay: 0, longestSilence: 900 });
  assert.deepEqual({ ...tally(70_000) }, { copies, allowed: 6, low: 1, throttled: 1, mostInSecond: 3, mostInMinute: 4, longestWait: 3000, longestDelay: 2000, longestSilence: 59_900 });
  assert.equal(tally(150).allowed, 2); // back in time
});

test("figures: the copies of a text that passed, and those that didn’t", () => {
  /** @param {number} at @param {number} text_number @param {string} text @param {"passes" | "throttled"} mark */
  const entry = (at, text_number, text, mark) => ({ at, leaves: at, mark, retry: 0, text, pictures: [{}, text_number ? { text_number } : null, { text_number: 9 }] });
  const tally = createTally([entry(0, 1, "free", "passes"), entry(1, 2, "hi", "passes"), entry(2, 0, "yes", "passes"), entry(3, 3, "hey", "passes"), entry(4, 1, "FREE", "throttled"), entry(5, 3, "hey", "passes"), entry(6, 1, "free 2", "throttled")]);
  const free = { text: "free", passed: 1, throttled: 2 }, hey = { text: "hey", passed: 2, throttled: 0 };
  assert.deepEqual(mostCopied(tally(9), 1, 3), [free, hey]);
  assert.deepEqual(mostCopied(tally(9), 1, 1), [free]);
  assert.deepEqual([0, 2].map((index) => mostCopied(tally(9), index, 3)), [[], [{ text: "free", passed: 5, throttled: 2 }]]);
  assert.deepEqual(mostCopied(tally(4), 1, 3), [{ ...free, throttled: 1 }]);
  const perUser = createTally([entry(0, 1, "free", "passes"), entry(1, 2, "free", "throttled"), entry(2, 3, "hi", "passes"), entry(3, 4, "", "passes"), entry(4, 4, "", "passes")]);
  assert.deepEqual(mostCopied(perUser(9), 1, 3), [{ text: "free", passed: 1, throttled: 1 }]);
});

test("names: the state of a text is that of the last message", () => {
  const copies = [new Map([[1, { text: "free", passed: 3, throttled: 9 }]]), undefined, new Map([[2, { text: "free", passed: 1, throttled: 4 }]])];
  const last = { pictures: [{ times: 3, text_number: 1 }, null, { times: 1, text_number: 2 }] };
  assert.deepEqual([textWords(last, 0, "3 of 3", { copies }), textWords(last, 2, "1 of 1", { copies }), textWords(last, 1, "0 of 3", { copies }), textWords(undefined, 0, "0 of 3", { copies })],
    ["last message: 3 of 3 · copies: 3 passed, 9 throttled", "last message: 1 of 1 · copies: 1 passed, 4 throttled", "last message: doesn’t count", ""]);
});

test("figures: a silence that lasts counts, too", () => {
  const tally = createTally([{ at: 0, leaves: 0, mark: "passes", retry: 0, pictures: [] }, { at: 900, leaves: Infinity, mark: "throttled", retry: 86_400_000, pictures: [] }, { at: 2000, leaves: 5000, mark: "passes", retry: 0, pictures: [] }]);
  assert.deepEqual([0, 1500, 4000, 300_000, 1000].map((time) => tally(time).longestSilence), [0, 1500, 5000, 295_000, 1000]);
});

test("figures: half-open stretches", () => {
  const tally = createTally([0, 1000].map((at) => ({ at, leaves: at, mark: "passes", retry: 0, pictures: [] })));
  assert.equal(tally(2000).mostInSecond, 1);
});

test("fields: numbers and lengths within the engine's bounds", () => {
  const { burst, refill } = algorithmOf({ algorithm: "token-bucket" }).fields;
  assert.deepEqual([readField(burst, "3"), readField(refill, "4 seconds"), readField(refill, "1h30")], [{ value: 3 }, { value: "4s" }, { value: "1h30m" }]);
  for (const [field, text] of [[burst, "0"], [burst, "1.5"], [burst, ""], [refill, "0"], [refill, "soon"]]) assert.match(readField(field, text).error, /^Enter /, text);
  assert.equal(stops(burst)[0], 1);
  assert.equal(stops(burst)[closest(stops(burst), 14)], 15);
});

test("groups: lanes that got messages of their own are asked about alone", () => {
  const lanes = [1, 2, 3].map((id) => ({ id, limits: [] }));
  const ids = (messages) => groups(lanes, messages).map((group) => group.map(({ id }) => id));
  assert.deepEqual(ids([{ at: 0 }]), [[1, 2, 3]]);
  assert.deepEqual(ids([{ at: 0 }, { at: 1, lane: 2 }]), [[1, 3], [2]]);
  assert.deepEqual(ids([1, 2, 3].map((lane) => ({ at: 0, lane }))), [[1], [2], [3]]);
});

test("traffic: within the engine's bound of messages", () => {
  const piece = (traffic) => ({ from: 1000, until: 1000, traffic, made: [] });
  const steady = { kind: "steady", every: "1s" }, scene = { lanes: [], start: 0, timezone: "", kept: [], grants: [] };
  assert.equal(untilWithin({ ...scene, piece: piece(steady) }, 60_000), 60_000);
  assert.equal(untilWithin({ ...scene, piece: piece({ ...steady, for: "10s" }) }, 60_000), 11_000);
  assert.equal(untilWithin({ ...scene, piece: piece(steady) }, Infinity), 19_501_000);
});

test("traffic: as the server is asked for it", () => {
  assert.deepEqual(asked({ kind: "bursts", size: "6", every: "20 seconds", for: "10m" }), { kind: "bursts", size: 6, every: "20000ms" });
  assert.deepEqual(asked({ kind: "recorded", channel: "7", user: "", for: "10m", stretch: "last" }), { kind: "recorded", channel: "7" });
  assert.deepEqual([rateOf({ kind: "poisson", per_minute: "30", seed: "1" }), rateOf({ kind: "hand" }), lengthOf({ kind: "steady", for: "10m" })], [1 / 2000, 0, 600_000]);
  assert.match(errorOf(kinds.bursts.fields.size, "0"), /^Enter /);
});

const channels = [{ id: "7", login: "garden" }, { id: "8", login: "" }];

test("recorded: the first channel's busiest ten minutes, unless something else is chosen", () => {
  const first = usual("recorded", channels);
  assert.deepEqual(first, { kind: "recorded", for: "10m", channel: "7" });
  assert.deepEqual([isClear(first), isClear(usual("recorded", []))], [true, false]);
  assert.deepEqual(withChannel({ kind: "recorded", channel: "9" }, channels), { kind: "recorded", channel: "9" });
  assert.deepEqual(usual("steady", channels), { kind: "steady", every: "1s" });
  assert.deepEqual([{}, { for: "1 h" }, { stretch: "last", for: "1h" }, { from: "2026-01-01T00:00:00Z", stretch: "last", for: "1h" }].map((more) => stretchOf({ kind: "recorded", ...more })), [
    { busiest: "600000ms" }, { busiest: "3600000ms" }, { last: "3600000ms" }, { from: "2026-01-01T00:00:00Z", for: "3600000ms" },
  ]);
});

test("recorded: channels by login, with the one of a link", () => {
  const known = [["7", "garden"], ["8", "8"]];
  assert.deepEqual(choicesOf("channel", { kind: "recorded", channel: "8" }, channels), known);
  assert.deepEqual(choicesOf("channel", { kind: "recorded", channel: "9" }, channels), [["9", "9"], ...known]);
  assert.deepEqual(choicesOf("channel", { kind: "recorded" }, channels), [["", "choose"], ...known]);
  assert.deepEqual([choicesOf("user_id", { kind: "recorded" }, channels), choicesOf("every", { kind: "steady" }, channels)], [null, null]);
});

test("recorded: a start in a link is shown until another part is chosen", () => {
  const traffic = { kind: "recorded", channel: "7", from: "2026-01-01T00:00:00Z" };
  assert.deepEqual(choicesOf("stretch", traffic, channels)[0], ["from", "from 2026-01-01T00:00:00Z"]);
  assert.equal(chosenOf("stretch", traffic), "from");
  const last = withField(traffic, "stretch", "last");
  assert.deepEqual([chosenOf("stretch", last), choicesOf("stretch", last, channels).map(([value]) => value), stretchOf(last)], ["last", ["", "last"], { last: "600000ms" }]);
});

const lanes = [{ id: 1, limits: [{ name: "burst", algorithm: "token-bucket", burst: 3, refill: "1m30s" }, { name: "daily", algorithm: "daily-window", messages: 300, per: "user-everywhere" }] }];

test("schedule: messages without a text are counted for limits that compare texts", () => {
  const repeats = [{ id: 1, name: "", limits: [{ name: "copies", algorithm: "token-bucket", per: "text" }] }], usual = [{ id: 1, name: "", limits: [{ name: "burst", algorithm: "token-bucket" }] }];
  const piece = (made) => ({ from: 0, until: Infinity, traffic: { kind: "recorded" }, made });
  const old = { at: 5, user_id: "1" }, known = { at: 7, user_id: "1", print: "AAA" }, said = { at: 8, user_id: "1", text: "hi" };
  const cases = [[repeats, piece([old, known, old, said]), 2], [repeats, piece([known]), 0], [repeats, null, 0], [usual, piece([old]), 0]];
  for (const [lanes, of, n] of cases) assert.equal(withoutText(lanes, of), n);
});

test("limits: only a week has a first day, and a day is the default", () => {
  const daily = { name: "daily", algorithm: "daily-window", messages: 300 };
  const week = { ...daily, period: /** @type {const} */ ("week"), first_day: /** @type {const} */ ("sunday") };
  assert.deepEqual(withPeriod(daily, "month"), { ...daily, period: "month" });
  assert.deepEqual(withPeriod(week, "week"), week);
  assert.deepEqual(withPeriod(week, "month"), { ...daily, period: "month" });
  assert.deepEqual(withPeriod(week, "day"), daily);
});

test("limits: another scope or algorithm keeps what it can have", () => {
  const copies = { name: "copies", algorithm: "sliding-log", messages: 3, every: "30s", per: /** @type {const} */ ("text"), similar: true, from_length: 20, strikes: true };
  const { strikes: _, ...own } = { ...copies, per: "user-text" };
  assert.deepEqual(withScope(copies, "user-text"), own);
  assert.deepEqual(withScope(copies, "user"), { name: "copies", algorithm: "sliding-log", messages: 3, every: "30s" });
  const bucket = { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" }, queue = { name: "queue", algorithm: "leaky-bucket", every: "4s", queue: 0 };
  assert.deepEqual(withAlgorithm(copies, bucket), { ...bucket, per: "text", similar: true, from_length: 20, strikes: true });
  assert.deepEqual([withAlgorithm(copies, queue), withAlgorithm(bucket, queue), withAlgorithm({ ...bucket, per: "channel" }, queue)], [queue, queue, { ...queue, per: "channel" }]);
});

test("copy: as TOML, Go and JSON", () => {
  assert.equal(toml(lanes), '[[limit]]\nname = "burst"\nalgorithm = "token-bucket"\nburst = 3\nrefill = "1m30s"\n\n[[limit]]\nname = "daily"\nalgorithm = "daily-window"\nmessages = 300\nper = "user-everywhere"\n');
  assert.equal(go(lanes), 'chatguard.Limit{Name: "burst", Algorithm: chatguard.TokenBucket, Burst: 3, Refill: 90 * time.Second},\n' +
    'chatguard.Limit{Name: "daily", Algorithm: chatguard.DailyWindow, Messages: 300, Per: chatguard.PerUserEverywhere},\n');
  assert.deepEqual(JSON.parse(json(lanes)), { limits: lanes[0].limits });
  assert.deepEqual(JSON.parse(json([...lanes, ...lanes])).lanes.length, 2);
  assert.deepEqual(["4s", "500ms", "1h", "36h", "250µs"].map(goDuration), ["4 * time.Second", "500 * time.Millisecond", "time.Hour", "36 * time.Hour", "250 * time.Microsecond"]);
});

test("scenes: every link means something", () => {
  for (const { id, title, text, task, fragment } of scenes) {
    assert.deepEqual(parse(fragment).unknown, [], id);
    assert.ok(t(title) && t(text) && t(task), id);
  }
});

test("raid: thirty accounts paste 40 variants of one text", () => {
  const raid = asked({ kind: "chat", people: "10", every: "20s", spam_every: "500ms", spammers: "30" });
  assert.deepEqual([raid.kind, raid.people, raid.every, raid.spam_every, raid.spammers], ["chat", 10, "20000ms", "500ms", 30]);
  assert.deepEqual([raid.lines, raid.spam_lines], [chatTexts(true).lines, copiesOf(chatTexts(false).spam_lines[0])]);
  assert.equal(new Set(raid.spam_lines).size, 40);
  assert.deepEqual(asked({ kind: "chat", people: "10", every: "20s", spammers: "" }).spam_lines, chatTexts(false).spam_lines);
  assert.deepEqual(["spammer", "spammer-7"].map((id) => [isSpam(id), personOf(id).name]), [[true, "DealsBot"], [true, "DealsBot 7"]]);
  assert.ok(!isSpam("person-7") && !isSpam("spammers"));
});

test("raid: the task is done if few copies pass, and nobody else is throttled", () => {
  const check = quietSpammer(15, isSpam, "lab.task-raid");
  /** @param {number} copies that pass @param {"passes" | "throttled"} last */
  const look = (copies, last) => check([Array.from({ length: 61 }, (_, i) => ({ at: i * 1001, user: i < 20 ? `spammer-${i}` : "person-1", mark: i < 20 ? (i < copies ? "passes" : "throttled") : i === 60 ? last : "passes" }))], {});
  assert.deepEqual(look(6, "passes"), { isDone: true, text: "In the last minute, 10.9% of the messages that passed were copies. 0 messages from others were throttled." });
  assert.equal(look(10, "passes").isDone, false);
  assert.equal(look(6, "throttled").isDone, false);
});

test("share: the parameters of limits on repeated text", () => {
  const { setup, unknown } = parse("#lanes=sliding-log,messages=3,every=30s,per=text,similar=true,from_length=20,count_emotes=true,strikes=true,from_lenght=4");
  assert.deepEqual(setup.lanes[0].limits, [{ name: "window", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", similar: true, from_length: 20, count_emotes: true, strikes: true }]);
  assert.deepEqual(unknown, ["sliding-log, from_lenght=4"]);
});
