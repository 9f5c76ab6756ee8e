import assert from "node:assert/strict";
import test from "node:test";
import { inBuckets, inRows } from "../static/app/now/rates.js";
import { drawing, summary } from "../static/app/now/rates-chart.js";
import { sentence } from "../static/app/now/summary.js";
import { comparison } from "../static/app/now/top.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules", "now");

const noon = Date.parse("2026-11-14T12:00:00Z");

// rates returns rates in steps of some seconds until noon, of which only the last ones are known.
function rates(step, steps, known, each = () => 1) {
  const counts = Array.from({ length: steps }, (_, i) => (i < steps - known ? null : each(i)));
  const zeros = counts.map((count) => (count === null ? null : 0));
  return { from: noon - steps * step * 1000, step, messages: counts, throttled: zeros, observed: zeros, low: zeros, peak: null };
}

test("rates: the axis fits the data there is", () => {
  const size = (of) => {
    const { seconds, starts, end } = inBuckets(of);
    return [seconds, starts.length, end - noon / 1000];
  };
  assert.deepEqual(size(rates(5, 720, 36)), [15, 12, 0]); // three minutes
  assert.deepEqual(size(rates(5, 720, 720)), [60, 60, 0]);
  assert.deepEqual(size(rates(60, 1440, 1440)), [600, 144, 0]);
  assert.deepEqual(size(rates(60, 1440, 10)), [60, 10, 0]);
  assert.deepEqual(size(rates(5, 720, 1)), [15, 1, 0]);
});

test("rates: buckets keep every message, and an unfinished one waits", () => {
  assert.deepEqual(inBuckets(rates(5, 720, 6)).messages, [3, 3]);
  const late = { ...rates(5, 720, 7), from: noon - 720 * 5000 + 5000 };
  assert.deepEqual(inBuckets(late).messages, [3, 3]);
  assert.deepEqual(inBuckets(rates(5, 720, 720)).messages.reduce((sum, n) => sum + n), 720);
});

test("rates: rows of the table", () => {
  assert.deepEqual(inRows([0, 60, 120], [[1, null, 3], [null, null, null]], 120), [{ at: 0, values: [1, null] }, { at: 120, values: [3, null] }]);
});

test("rates: observed messages stand on the throttled ones", () => {
  const of = rates(5, 720, 3, () => 9);
  const held = { ...of, throttled: of.messages.map((n) => n && 2), observed: of.messages.map((n) => n && 1) };
  const { lower } = drawing(held, "hour");
  assert.deepEqual(lower.map(({ name, values, drawn }) => [name, values, drawn]), [["would be throttled", [3], [9]], ["throttled", [6], undefined]]);
});

test("rates: low-priority messages are drawn only if there are some", () => {
  const of = rates(5, 720, 3, () => 9);
  const names = (known) => drawing(known, "hour").series.map(({ name }) => name);
  assert.deepEqual(names(of), ["messages"]);
  const low = { ...of, low: of.messages.map((n) => n && 2) };
  assert.deepEqual(names(low), ["messages", "of low priority"]);
  assert.deepEqual(drawing(low, "hour").rows.at(-1).values, [27, 6, 0]);
  assert.match(summary(low, "hour"), /: 27 messages, 0 throttled, 6 passed at low priority\./);
});

test("rates: the summary counts in words", () => {
  const words = (of) => summary(of, "hour").replace(/\d\d:\d\d(?=[.:,]|$)/g, "TIME").replace(/[A-Z][a-z]{2} \d+ [A-Z][a-z]{2}, /g, "");
  assert.equal(words(rates(5, 720, 0)), "No data for the last hour yet.");
  assert.equal(words(rates(5, 720, 9, () => 0)), "No messages since TIME.");
  assert.equal(words({ ...rates(5, 720, 1), peak: { at: noon, messages: 1 } }), "Since TIME: 1 message, 0 throttled. Busiest minute: 1 message at TIME.");
});

test("top: compared with the day before or the last stream", () => {
  assert.equal(comparison(86, 100, "stream"), "14% fewer than at this point in the last stream");
  assert.equal(comparison(130, 100, "day"), "30% more than by this time yesterday");
  assert.equal(comparison(100, 100, "day"), "as many as by this time yesterday");
  assert.equal(comparison(900, 100, "day"), "9 times as many as by this time yesterday");
});

test("summary: a sentence", () => {
  const throttled = { users: 37, timed_out_users: 3, banned_users: 0, observed_users: 0 };
  const stream = { kind: "stream", from: "2026-11-14T20:00:00Z", until: "2026-11-14T23:10:00Z", throttled, pardoned_users: 2, recorded: { in_force: { users: 31 } } };
  assert.equal(sentence(stream, "UTC"), "Last stream, Sat 14 Nov 20:00–23:10 (UTC): 37 people throttled, 3 timed out, 2 pardoned. With the current limits, 31 would be throttled.");
  const day = { ...stream, kind: "day", throttled: { users: 1, observed_users: 2 }, pardoned_users: 0, recorded: undefined };
  assert.equal(sentence(day, "UTC"), "Sat 14 Nov (UTC): 1 person throttled, 2 people only observed.");
});
