import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import test from "node:test";
import "../list-algorithms.js";
import { parse, print } from "../static/lab/share.js";
import { newYear } from "../static/lab/state.js";
import { languages, loadTexts } from "../testing/texts.js";

await loadTexts("words", "rules", "lab");

const nothing = { lanes: [], traffic: { kind: "hand" }, sent: [], grants: [], speed: 1, span: 0, start: newYear, timezone: "", at: null, scene: "" };

// again prints what was read.
const again = (fragment) => print({ ...nothing, ...parse(fragment).setup });

const links = [
  "#lanes=token-bucket,burst=3,refill=4s;sliding-log,messages=15,every=1m&traffic=bursts,size=6,every=20s,for=10m&speed=10",
  "#lanes=room:token-bucket,burst=10,refill=1s,per=channel+daily-window,messages=300,timezone=Europe/Berlin,reset_at=04:00&traffic=hand",
  "#lanes=fixed-window,messages=15,every=1m;leaky-bucket,every=4s,queue=2&traffic=hand&sent=0,0.5,59.123@2,61&span=1m30s",
  "#lanes=token-bucket,burst=1,refill=500ms&traffic=poisson,per_minute=27,seed=7&start=2026-03-29T00:30:00Z&timezone=Europe/Berlin",
  "#lanes=token-bucket,burst=3,refill=4s&traffic=recorded,channel=check:a%20b,user_id=anna,stretch=last,for=1h",
  "#lanes=token-bucket,burst=3,refill=4s;daily-window,messages=15&traffic=hand&sent=1,2&grants=2.5@1,messages=5;30@2,messages=1,user=check:a%20b%2Cc%3Bd&speed=10",
  "#scene=clock&lanes=user-window,messages=30,every=5m&traffic=steady,every=1.5s&speed=60",
];

test("share: a link comes back as it was", () => {
  for (const fragment of links) {
    assert.deepEqual(parse(fragment).unknown, [], fragment);
    assert.equal(again(fragment), fragment);
  }
});

test("share: what a link leaves out is as usual", () => {
  const { setup } = parse("#lanes=token-bucket;token-bucket+token-bucket&traffic=bursts");
  assert.deepEqual(setup.lanes.map(({ limits }) => limits), [
    [{ name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" }],
    [{ name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" }, { name: "burst-2", algorithm: "token-bucket", burst: 3, refill: "4s" }],
  ]);
  assert.deepEqual(setup.traffic, { kind: "bursts", size: "6", every: "20s" });
});

test("share: lengths as people write them", () => {
  const { setup, unknown } = parse("#lanes=sliding-log,messages=15,every=60s&at=1m12s&span=30s");
  assert.deepEqual([setup.lanes[0].limits[0].every, setup.at, setup.span, unknown], ["1m", 72_000, 30_000, []]);
  assert.equal(parse("#at=end").setup.at, Infinity);
});

test("share: unknown parts are named", () => {
  for (const [fragment, ...unknown] of [
    ["#colour=red", "colour=red"],
    ["#lanes=magic-bucket,burst=3;token-bucket,burst=0,refil=4s", "magic-bucket", "token-bucket, burst=0", "token-bucket, refil=4s"],
    ["#traffic=flood,size=6", "traffic=flood"],
    ["#traffic=bursts,size=0,colour=red", "bursts, size=0", "bursts, colour=red"],
    ["#traffic=recorded,channel=7,stretch=first,for=soon,user=8", "recorded, stretch=first", "recorded, for=soon", "recorded, user=8"],
    ["#speed=7&at=soon&start=then&span=", "speed=7", "at=soon", "start=then", "span="],
    ["#lanes=token-bucket&sent=1,x,2@9", "sent=x", "sent=2@9"],
    ["#lanes=token-bucket&grants=1@1;1@2,messages=5;x,messages=1;1@1,messages=0;1@1,messages=5,user=a,b", "grants=1@1", "grants=1@2,messages=5", "grants=x,messages=1", "grants=1@1,messages=0", "grants=1@1,messages=5,user=a,b"],
    ["#" + "lanes=" + Array(10).fill("token-bucket").join(";"), "a lane after the first 8", "a lane after the first 8"],
    ["#%E0%A4%A", "%E0%A4%A"],
  ]) {
    assert.deepEqual(parse(fragment).unknown, unknown, fragment);
  }
});

// inLanguage returns the links that a page of another language prints: those that it has read, and
// one with a duration as it was typed there.
function inLanguage(lang) {
  const code = `
    globalThis.document = ${JSON.stringify({ documentElement: { lang } })};
    const [{ loadTexts }, { lengthText }, { parse, print }] = await Promise.all(["testing/texts.js", "static/app/words/lengths.js", "static/lab/share.js"].map((name) => import("./" + name)));
    await Promise.all([loadTexts("rules"), import("./list-algorithms.js")]);
    const again = (fragment) => print({ ...${JSON.stringify(nothing)}, ...parse(fragment).setup });
    const typed = print({ ...${JSON.stringify(nothing)}, traffic: { kind: "steady", every: lengthText(5_400_000_000_000n) } });
    console.log(JSON.stringify([...${JSON.stringify(links)}.map(again), typed]));
  `;
  return JSON.parse(execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: new URL("..", import.meta.url), encoding: "utf8" }));
}

test("share: links are the same in every language", () => {
  for (const lang of Object.keys(languages)) assert.deepEqual(inLanguage(lang), [...links, "#traffic=steady,every=1h30m"], lang);
});
