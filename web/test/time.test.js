import assert from "node:assert/strict";
import test from "node:test";
import { clock, length, seconds, stamp, toMinute, upcoming, wait } from "../static/app/words/time.js";
import { state } from "../static/app/core/state.js";
import { at } from "../view-text.js";
import { loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules");

const ms = (time) => Date.parse(time);

test("clock: seconds today, else the day and the next whole minute", () => {
  at("2026-11-03T12:00:00Z", () => {
    assert.equal(clock(ms("2026-11-03T13:03:22Z"), "Europe/Berlin"), "14:03:22 CET");
    assert.equal(clock(ms("2026-11-04T13:03:22Z"), "Europe/Berlin"), "Wed 4 Nov, 14:04 CET");
    assert.equal(clock(ms("2026-11-04T13:03:00Z"), "Europe/Berlin"), "Wed 4 Nov, 14:03 CET");
    assert.equal(clock(ms("2026-11-03T23:30:00Z"), "Europe/Berlin"), "Wed 4 Nov, 00:30 CET"); // today in UTC only
  });
});

test("upcoming: without a day within 24 hours", () => {
  at("2026-11-03T12:00:00Z", () => {
    assert.equal(upcoming(ms("2026-11-03T13:03:22Z"), "UTC"), "13:03:22 UTC");
    assert.equal(upcoming(ms("2026-11-04T00:00:00Z"), "UTC"), "00:00 UTC");
    assert.equal(upcoming(ms("2026-11-04T11:59:01Z"), "UTC"), "12:00 UTC");
    assert.equal(upcoming(ms("2026-11-04T12:00:01Z"), "UTC"), "Wed 4 Nov, 12:01 UTC");
  });
});

test("stamp and toMinute: a day only if it isn't today, and never rounded up", () => {
  at("2026-11-03T12:00:00Z", () => {
    assert.equal(stamp(ms("2026-11-03T01:02:03Z"), "UTC"), "01:02:03 UTC");
    assert.equal(stamp(ms("2026-11-02T01:02:03Z"), "UTC"), "Mon 2 Nov, 01:02:03 UTC");
    assert.equal(toMinute(ms("2026-11-03T01:02:59Z"), "UTC"), "01:02 UTC");
    assert.equal(toMinute(ms("2026-11-02T01:02:59Z"), "UTC"), "Mon 2 Nov, 01:02 UTC");
  });
});

test("an unknown time zone counts as the browser's", () => {
  const time = ms("2026-11-03T01:02:03Z");
  assert.equal(stamp(time, "Europe/Nowhere"), stamp(time));
});

test("wait: the two largest units, rounded up to seconds", () => {
  const texts = [[-5, "0 s"], [0, "0 s"], [1, "1 s"], [4000, "4 s"], [4001, "5 s"], [60_000, "1 min"], [61_000, "1 min 1 s"], [3_600_000, "1 h"],
    [3_601_000, "1 h 1 s"], [11_520_000, "3 h 12 min"], [86_400_000, "1 d"], [90_061_000, "1 d 1 h"]];
  for (const [time, text] of texts) assert.equal(wait(time), text);
});

test("length: exact, in words", () => {
  const texts = [[0, "0 seconds"], [0.5, "0.5 seconds"], [1, "1 second"], [60, "1 minute"], [90, "1 minute 30 seconds"], [5400, "1 hour 30 minutes"],
    [86400, "1 day"], [2_592_000, "30 days"], [0.000000001, "0.000000001 seconds"]];
  for (const [time, text] of texts) assert.equal(length(time), text);
});

test("seconds: reads a duration as the API writes it", () => {
  const numbers = [["0s", 0], ["1m30s", 90], ["1h0m0.5s", 3600.5], ["250ms", 0.25], ["1.5h", 5400], ["1ns", 1e-9], ["3µs", 3e-6], ["", 0]];
  for (const [text, number] of numbers) assert.equal(seconds(text), number);
});

test("times: a zone is named only if it isn't the channel's", () => {
  Object.assign(state, { channel: "1", channels: [{ id: "1", login: "c", timezone: "Europe/Berlin" }] });
  at("2026-11-03T12:00:00Z", () => {
    const time = ms("2026-11-03T13:03:22Z");
    assert.deepEqual([clock(time), upcoming(time), stamp(time), toMinute(time)], ["14:03:22", "14:03:22", "14:03:22", "14:03"]);
    assert.equal(clock(time, "Europe/Berlin"), "14:03:22");
    assert.equal(clock(time, "Asia/Tokyo"), "22:03:22 GMT+9");
  });
  Object.assign(state, { channel: null, channels: [] });
});
