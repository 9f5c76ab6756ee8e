import assert from "node:assert/strict";
import test from "node:test";
import { durationText, lengthText, nanoseconds, parseLength, typedDuration } from "../static/app/words/lengths.js";

const second = 1_000_000_000n;

test("parseLength: as people write them", () => {
  const texts = {
    "30m": 1800, "1h30": 5400, "1 h 30 min": 5400, "90": 90, "90s": 90, "4 seconds": 4, "1.5h": 5400, "2d": 172_800, "1h30m": 5400, "1 hour, 30 minutes": 5400,
    "1 hour and 30 minutes": 5400, " 10 MIN ": 600, "2 hrs": 7200, "5 secs": 5, "1 week": 604_800, "1w2": 777_600, "2d12": 216_000, "3min20": 200, "1d 1s": 86_401, "0": 0,
    ".5": 0.5, "1 second": 1,
  };
  for (const [text, want] of Object.entries(texts)) assert.equal(parseLength(text), BigInt(want * 1e9), text);
  assert.equal(parseLength("250ms"), second / 4n);
  assert.equal(parseLength("100 days 0.000000001 seconds"), 8_640_000n * second + 1n);
});

test("parseLength: nothing else", () => {
  const texts = ["", "soon", "1e3", "-5", "1:30", "1,5h", "5 mo", "h", "1h 1h", "30s 1h", "1 2", "1h30 2", "1s30", "1..5h", "250ms 1s", "1s 5ms", "constructor", "5 constructor", "5 toString", "9".repeat(65)];
  for (const text of texts) assert.equal(parseLength(text), null, text);
});

test("lengthText: is read back exactly", () => {
  for (const ns of [0n, 1n, 500_000_000n, second, 60n * second, 90n * second, 5400n * second, 86_400n * second, 100_000n * 86_400n * second + 1n]) {
    assert.equal(parseLength(lengthText(ns)), ns);
    assert.equal(nanoseconds(durationText(ns)), ns);
  }
  assert.equal(lengthText(5400n * second), "1 hour 30 minutes");
  assert.equal(lengthText(1_152_835_200n * second), "13343 days");
});

test("durationText: as the API writes them", () => {
  const texts = ["0s", "1ns", "1.5µs", "500ms", "4s", "1m", "1m30s", "1h", "1h30m", "1h0m30s", "1h30m0.000000001s", "720h"];
  for (const text of texts) assert.equal(durationText(nanoseconds(text)), text);
});

test("typedDuration: as the API reads them", () => {
  const typed = { "10 min": "10m", "1h30": "1h30m", "2 Days": "48h", "1 hour 5 minutes": "1h5m", "30s": "30s", "90": "1m30s", "soon": "soon" };
  for (const [text, want] of Object.entries(typed)) assert.equal(typedDuration(text), want);
});
