import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
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

// inLanguage returns what lengths.js reads and writes in a page of another language: {read, written}.
function inLanguage(lang, texts, lengths) {
  const code = `
    globalThis.document = ${JSON.stringify({ documentElement: { lang } })};
    const { lengthText, parseLength } = await import("./static/app/words/lengths.js");
    const written = ${JSON.stringify(lengths.map(String))}.map((ns) => lengthText(BigInt(ns)));
    console.log(JSON.stringify({ written, read: [...written, ...${JSON.stringify(texts)}].map((text) => String(parseLength(text))) }));
  `;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: new URL("..", import.meta.url), encoding: "utf8" }));
}

test("lengths: every language reads its own words, and the API’s notation", () => {
  const lengths = [0n, 1n, second / 2n, second, 2n * second, 60n * second, 90n * second, 5400n * second, 86_400n * second, 30n * 86_400n * second, 100_000n * 86_400n * second + 1n];
  const api = { "10 min": 600, "1h30": 5400, "1h30m": 5400, "90 seconds": 90, "2 weeks 1 day": 1_296_000, "1.5h": 5400, "720h": 2_592_000 };
  const own = {
    de: { "1 Stunde und 30 Minuten": 5400, "1 Std. 30 Min.": 5400, "1,5 Stunden": 5400, "2 tage, 5 std": 190_800, "1 Woche": 604_800, "10 Sek": 10 },
    es: { "1 hora y 30 minutos": 5400, "3 dias": 259_200, "0,5 h": 1800, "2 semanas": 1_209_600 },
    "pt-BR": { "1 hora e 30 minutos": 5400, "1,5 dia": 129_600, "20 segundos": 20 },
    ja: { "1時間30分": 5400, "１時間、３０分": 5400, "0.5 秒": 0.5, "2日": 172_800, "1週間": 604_800 },
  };
  for (const [tag, words] of Object.entries(own)) {
    const texts = { ...api, ...words };
    const { read, written } = inLanguage(tag, Object.keys(texts), lengths);
    assert.deepEqual(read.slice(0, lengths.length), lengths.map(String), `${tag}: ${written.join("; ")}`);
    assert.deepEqual(read.slice(lengths.length), Object.values(texts).map((seconds) => String(seconds * 1e9)), tag);
  }
  assert.deepEqual(inLanguage("ja", [], [5400n * second]).written, ["1時間30分"]);
  assert.deepEqual(inLanguage("de", ["1,5 Tassen", "1 Stunde 1 Stunde", "Stunde"], [5400n * second]), { written: ["1 Stunde 30 Minuten"], read: [String(5400n * second), "null", "null", "null"] });
});
