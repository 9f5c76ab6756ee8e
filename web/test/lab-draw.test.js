import assert from "node:assert/strict";
import test from "node:test";
import { drawingOf } from "../static/lab/draw/drawings.js";
import { passedSince } from "../static/lab/draw/excess.js";
import { eachMark, nearest } from "../static/lab/draw/marks.js";
import { levelPoints } from "../static/lab/draw/level.js";
import { lastBy } from "../static/lab/tape.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("lab");

const passes = (at, picture, leaves = at) => ({ at, leaves, mark: "passes", limit: "", retry: 0, pictures: [picture] });
const throttled = (at, picture, retry) => ({ at, leaves: Infinity, mark: "throttled", limit: "burst", retry, pictures: [picture] });

const moment = (entries, now, numbers, start = 0) => ({ entries, last: lastBy(entries, now), index: 0, numbers, now, start });

// stateOf returns the words of a limit's state and the wait for one more message, ms.
function stateOf(algorithm, entries, now, numbers, start) {
  const drawing = drawingOf(algorithm), v = moment(entries, now, numbers, start), state = drawing.at(v);
  return [drawing.words(state, v), Math.round(drawing.wait(state, v))];
}

test("token bucket: tokens come back evenly", () => {
  const numbers = { burst: 3, refill: 4000 }, entries = [passes(0, { tokens: 2 }), passes(0, { tokens: 1 }), passes(1000, { tokens: 0.25 })];
  assert.deepEqual(stateOf("token-bucket", [], 5000, numbers), ["3.0 of 3 tokens", 0]);
  assert.deepEqual(stateOf("token-bucket", entries, 1000, numbers), ["0.2 of 3 tokens, next in 3.0 s", 3000]);
  assert.deepEqual(stateOf("token-bucket", entries, 3000, numbers), ["0.7 of 3 tokens, next in 1.0 s", 1000]);
  assert.deepEqual(stateOf("token-bucket", entries, 60_000, numbers), ["3.0 of 3 tokens", 0]);
});

test("cascade: the one of two buckets that is ready first", () => {
  const numbers = { burst: 3, refill: 4000, extra_burst: 2, extra_refill: 20_000 };
  assert.deepEqual(stateOf("cascade", [passes(0, { tokens: 0, extra_tokens: 0 })], 2000, numbers), ["0.5 tokens normal, 0.1 low", 2000]);
});

test("buckets: full if a limit on repeated text doesn’t count the message", () => {
  const numbers = { burst: 3, refill: 4000, extra_burst: 2, extra_refill: 20_000 };
  assert.deepEqual(stateOf("token-bucket", [passes(0, null)], 0, numbers), ["3.0 of 3 tokens", 0]);
  assert.deepEqual(stateOf("cascade", [passes(0, null)], 0, numbers), ["3.0 tokens normal, 2.0 low", 0]);
});

test("fixed window: empty again by the clock", () => {
  const numbers = { messages: 15, every: 60_000 }, entries = [passes(59_000, { from: 1_000_000, until: 1_060_000, count: 15 })], start = 1_000_000;
  assert.deepEqual(stateOf("fixed-window", entries, 59_500, { ...numbers, every: 60_000 }, start), ["15 of 15, new window in 0.5 s", 500]);
  assert.deepEqual(stateOf("fixed-window", [passes(0, { from: 960_000, until: 1_020_000, count: 15 })], 20_000, numbers, start), ["0 of 15, new window in 1 min", 0]);
});

test("user window: begins with a message", () => {
  const numbers = { messages: 2, every: 60_000 }, entries = [passes(5000, { from: 5000, until: 65_000, count: 2 })];
  assert.deepEqual(stateOf("user-window", [], 0, numbers), ["0 of 2, begins with the next message", 0]);
  assert.deepEqual(stateOf("user-window", entries, 60_000, numbers), ["2 of 2, ends in 5.0 s", 5000]);
  assert.deepEqual(stateOf("user-window", entries, 65_000, numbers), ["0 of 2, begins with the next message", 0]);
});

test("sliding window: the sum is spelt out, and the wait is where it has room", () => {
  const numbers = { messages: 50, every: 60_000, slices: 1 }, entries = [passes(75_000, { from: 60_000, previous: 42, current: 18 })];
  assert.deepEqual(stateOf("sliding-window", entries, 75_000, numbers), ["42 × 0.75 + 18 = 49.5 of 50", 714]);
  assert.deepEqual(stateOf("sliding-window", entries, 135_000, numbers), ["18 × 0.75 + 0 = 13.5 of 50", 0]);
  assert.deepEqual(stateOf("sliding-window", entries, 200_000, numbers), ["0 × 0.67 + 0 = 0.0 of 50", 0]);
});

test("sliding window in slices: only the oldest counts in part", () => {
  const numbers = { messages: 5, every: 10_000, slices: 5 }, entries = [passes(11_000, { from: 10_000, slices: [1, 2, 0, 0, 1, 2] })];
  assert.deepEqual(stateOf("sliding-window", entries, 11_000, numbers), ["2 × 0.50 + 4 = 5.0 of 5", 1000]);
  assert.deepEqual(stateOf("sliding-window", entries, 12_500, numbers), ["1 × 0.75 + 3 = 3.8 of 5", 0]);
  assert.deepEqual(stateOf("sliding-window", entries, 17_000, numbers), ["0 × 0.50 + 3 = 3.0 of 5", 0]);
  assert.deepEqual(stateOf("sliding-window", entries, 23_000, numbers), ["0 × 0.50 + 0 = 0.0 of 5", 0]);
  // Three slices pass before there is room for one more.
  assert.deepEqual(stateOf("sliding-window", [passes(11_000, { from: 10_000, slices: [1, 0, 4, 0, 0, 0] })], 11_000, numbers), ["0 × 0.50 + 5 = 5.0 of 5", 5500]);
});

test("sliding log: messages leave it one by one", () => {
  const numbers = { messages: 2, every: 10_000 }, entries = [passes(0, { times: 1, oldest: 0 }), passes(4000, { times: 2, oldest: 0 }), throttled(5000, { times: 2, oldest: 0 }, 5000)];
  assert.deepEqual(stateOf("sliding-log", entries, 5000, numbers), ["2 of 2, oldest leaves in 5.0 s", 5000]);
  assert.deepEqual(stateOf("sliding-log", entries, 10_000, numbers), ["1 of 2, oldest leaves in 4.0 s", 0]);
  assert.deepEqual(stateOf("sliding-log", entries, 14_000, numbers), ["0 of 2", 0]);
});

test("leaky bucket: the queue drips", () => {
  const numbers = { every: 4000, queue: 2 }, entries = [passes(0, {}), passes(0, {}, 4000), passes(0, {}, 8000), throttled(0, {}, 4000)];
  assert.deepEqual(stateOf("leaky-bucket", entries, 1000, numbers), ["2 wait, next leaves in 3.0 s", 3000]);
  assert.deepEqual(stateOf("leaky-bucket", entries, 5000, numbers), ["1 waits, next leaves in 3.0 s", 0]);
  assert.deepEqual(stateOf("leaky-bucket", entries, 9000, numbers), ["empty, next may leave in 3.0 s", 0]);
  assert.deepEqual(stateOf("leaky-bucket", entries, 12_000, numbers), ["empty", 0]);
  assert.deepEqual(stateOf("leaky-bucket", [passes(0, {})], 1000, { every: 4000, queue: 0 }), ["empty, next may leave in 3.0 s", 3000]);
});

test("an algorithm that the page doesn't know is not drawn", () => {
  assert.deepEqual(stateOf("magic-bucket", [], 0, {}), ["", 0]);
});

const view = (entries, now) => ({ ...moment(entries, now, { burst: 3, refill: 4000 }), from: now - 60_000, line: 600, width: 700, marksHeight: 60, top: 60, height: 36 });

test("the level is a line that falls with each message", () => {
  const bucket = { capacity: 3, refill: 4000, after: (v, i) => v.entries[i].pictures[0].tokens };
  const entries = [passes(10_000, { tokens: 2 }), passes(12_000, { tokens: 1.5 })];
  assert.deepEqual(levelPoints(view(entries, 60_000), bucket), [[0, 3], [10_000, 3], [10_000, 2], [12_000, 2.5], [12_000, 1.5], [18_000, 3], [60_000, 3]]);
});

test("marks: messages of the same time stand on each other", () => {
  const v = view([passes(30_000, {}), passes(30_100, {}), throttled(30_200, {}, 1), passes(45_000, {})], 60_000);
  const seen = [];
  eachMark(v, (_, at, y) => seen.push([Math.round(at), y]));
  assert.deepEqual(seen, [[305, 55.5], [305, 46.5], [305, 37.5], [455, 55.5]]);
  assert.deepEqual([nearest(v, 306, 40), nearest(v, 450, 50), nearest(v, 100, 50)], [2, 3, -1]);
});

test("counts: what passed in the allowance of the last message", () => {
  const said = (at, user, text_number) => ({ ...passes(at, { times: 2, oldest: 0, text_number }), user });
  const entries = [said(0, "anna", 1), said(1000, "berta", 2), { ...throttled(2000, { text_number: 1 }, 1), user: "anna" }, said(3000, "berta", 1), said(4000, "anna", 2), said(5000, "anna", 1)];
  const passed = (per, from = -1) => passedSince({ entries, last: 5, index: 0, per }, from);
  assert.deepEqual([passed(), passed("user-everywhere"), passed("channel"), passed("text"), passed("text", 0), passedSince({ entries: [], last: -1, index: 0 }, 0)], [3, 3, 5, 3, 2, 0]);
});

test("sliding log: other texts and other users don’t count", () => {
  const said = (at, text_number, times, user) => ({ ...passes(at, { times, oldest: 1000, text_number }), user }), numbers = { messages: 3, every: 10_000 };
  const entries = [said(1000, 1, 1, "anna"), said(5000, 2, 1, "anna"), said(6000, 3, 1, "berta"), said(7000, 1, 2, "berta")];
  const at = (per) => { const v = { ...moment(entries, 12_000, numbers), per }; return drawingOf("sliding-log").words(drawingOf("sliding-log").at(v), v); };
  assert.deepEqual([at("text"), at()], ["1 of 3, oldest leaves in 5.0 s", "2 of 3, oldest leaves in 4.0 s"]);
});

test("sliding log: each limit compares texts in its own way", () => {
  const said = (at, own, times) => ({ ...passes(at, null), pictures: [own && { times: 1, oldest: at, text_number: own }, { times, oldest: 1000, text_number: 1 }] });
  const entries = [said(1000, 2, 1), said(5000, 3, 2), said(7000, null, 3)], numbers = { messages: 3, every: 10_000 };
  const v = { ...moment(entries, 12_000, numbers), index: 1, per: "text" }, { at, words } = drawingOf("sliding-log");
  assert.equal(words(at(v), v), "2 of 3, oldest leaves in 3.0 s");
  assert.deepEqual([passedSince(v, 0), passedSince({ ...v, index: 0 }, 0), passedSince({ ...v, index: 0, last: 1 }, 0)], [3, 0, 1]);
});
