import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { isAway, newState, next } from "../static/overlay/follow.js";
import { parse, print, styleOf, usualLooks } from "../static/overlay/looks.js";
import { Overlay, OverlayPage, namesOf } from "../static/overlay/view.js";
import { loadTexts } from "../testing/texts.js";
import { viewText } from "../view-text.js";

await loadTexts("overlay");

test("looks: every parameter", () => {
  const { looks, problems } = parse("size=60&color=%23FF0000&background=0008&outline=none&shadow=none&position=bottom-right&names=3&linger=0&show=count,raid&timeouts=hide&hide=1,2&language=en");
  assert.deepEqual(problems, []);
  assert.deepEqual(looks, {
    size: 60, color: "ff0000", background: "0008", outline: "none", shadow: "none", position: "bottom-right", names: 3, linger: 0,
    show: ["count", "raid"], timeouts: "hide", hide: ["1", "2"],
  });
  assert.deepEqual(parse(print(looks)).looks, looks);
  assert.deepEqual(styleOf(looks), { "--overlay-size": "60px", "--overlay-color": "#ff0000", "--overlay-background": "#0008", "--overlay-shadow": "none" });
});

test("looks: as usual", () => {
  assert.equal(print(usualLooks()), "");
  assert.deepEqual(parse("").looks, usualLooks());
});

test("looks: what can't be used is named, and the default counts", () => {
  const wrong = {
    size: ["15", "121", "4e1", "-20", "", "１６"], color: ["red", "12345", "ffffff;x"], background: ["transparent"], position: ["top"], names: ["11"],
    linger: ["601"], show: ["", "count,", "everything"], timeouts: ["yes"], hide: ["", "1,".repeat(20)], language: ["xx"], colour: ["ffffff"], constructor: ["1"],
  };
  for (const [name, texts] of Object.entries(wrong)) {
    for (const text of texts) {
      const { looks, problems } = parse(new URLSearchParams({ [name]: text }).toString());
      assert.equal(problems.length, 1, `${name}=${text}`);
      assert.match(problems[0], new RegExp(name));
      assert.deepEqual(looks, usualLooks(), `${name}=${text}`);
    }
  }
  const [problem] = parse(`size=${"9".repeat(1000)}`).problems;
  assert.ok(problem.length < 120, problem);
});

const shown = (more = {}) => ({ channel: "7", login: "a", throttled_users: 2, users: [], paused: false, observing: false, ...more });
const at = "2026-03-01T20:00:00Z", now = Date.parse(at) + 5000;

test("view: whose names are shown", () => {
  const users = [["1", true, false], ["2", false, false], ["3", true, true], ["4", true, false]].map(([user_id, held, timed_out]) => ({ user_id, name: `n${user_id}`, at, held, timed_out }));
  const named = (/** @type {any} */ looks, more = {}) => namesOf(shown({ users, ...more }), { ...usualLooks(), ...looks }, now).map(({ user_id }) => user_id).join("");
  assert.equal(named({}), "1234");
  assert.equal(named({ linger: 5 }), "134");
  assert.equal(named({ linger: 6, timeouts: "hide" }), "124");
  assert.equal(named({ names: 2, hide: ["1"] }), "23");
  assert.equal(named({ names: 0 }), "");
  assert.equal(named({}, { paused: true }), "");
});

test("view: what is said", () => {
  const said = (/** @type {any} */ more, looks = {}) => viewText(Overlay({ shown: shown(more), looks: { ...usualLooks(), ...looks }, now })).trim().replace(/\s+/g, " ");
  assert.equal(said({}), "2 throttled");
  const users = [true, true, false].map((held, i) => ({ user_id: String(i), name: `n${i}`, at, held, timed_out: false }));
  assert.equal(said({ users }), "3 throttledn0n1n2"); // the last one's name lingers
  assert.equal(said({ users }, { show: ["count"] }), "2 throttled");
  assert.equal(said({ observing: true }), "2 would be throttled");
  assert.equal(said({ observing: true, paused: true }), "Paused");
  assert.equal(said({ raid_until: "2026-03-01T20:04:37Z" }), "Raid mode 4:322 throttled");
  assert.equal(said({ raid_until: "2026-03-01T22:00:06.5Z" }, { show: ["raid"] }), "Raid mode 2:00:02");
  assert.equal(said({ raid_until: at }, { show: ["raid"] }), "");
});

test("page: what is wrong with its address", () => {
  const page = (/** @type {any} */ more, query = "") =>
    viewText(OverlayPage({ shown: null, refusal: null, isAway: false, address: parse(query), now, ...more })).trim().replace(/\s+/g, " ");
  assert.equal(page({}), "");
  assert.equal(page({ shown: shown() }), "2 throttled");
  assert.equal(page({ shown: shown() }, "size=9&position=bottom"),
    "2 throttledsize=9 can’t be used: use a number from 16 to 120.position=bottom can’t be used: use one of top-left, top-center, top-right, middle-left, middle-center, middle-right, bottom-left, bottom-center, bottom-right.");
  assert.match(page({}, "colour=red"), /^There is no setting colour\. The settings are size, color, /);
  const refusals = {
    "no-token": "The address has no token. Make a new address on the page Admin.",
    revoked: "The token was revoked or has expired. Make a new address on the page Admin.",
    forbidden: "This token can’t be used for the overlay of this channel.",
    "no-channel": "This channel isn’t served here.",
  };
  for (const [refusal, says] of Object.entries(refusals)) assert.equal(page({ refusal }), says);
});

test("follow: once per second, and less often without an answer", () => {
  const body = shown();
  let { state, pause } = next(newState(), { status: 200, body, etag: '"1"', now: Date.now() + 7000 }, true);
  assert.deepEqual([state.shown, state.etag, Math.round(state.ahead / 1000), pause], [body, '"1"', 7, 1000]);
  ({ state, pause } = next(state, { status: 304 }, true));
  assert.deepEqual([state.shown, state.etag, pause], [body, '"1"', 1000]);
  const seen = [];
  for (const status of [0, 503, 500, 0, 0, 0]) {
    ({ state, pause } = next(state, { status }, true));
    seen.push([state.shown !== null, state.etag !== null, isAway(state), pause]);
  }
  assert.deepEqual(seen, [
    [true, true, false, 1000], [false, false, false, 2000], [false, false, false, 4000], [false, false, true, 8000], [false, false, true, 15000], [false, false, true, 15000],
  ]);
  assert.equal(next(state, { status: 429, retryAfter: 30 }, true).pause, 30000);
  ({ state, pause } = next(state, { status: 200, body }, true));
  assert.deepEqual([state.shown, isAway(state), pause], [body, false, 1000]);
});

test("follow: a token that doesn't work is tried once per minute", () => {
  const { state: before } = next(newState(), { status: 200, body: shown(), etag: '"1"' }, true);
  for (const [status, hasToken, refusal] of [[401, true, "revoked"], [401, false, "no-token"], [403, true, "forbidden"], [404, true, "no-channel"]]) {
    const { state, pause } = next(before, { status }, hasToken);
    assert.deepEqual([state.refusal, state.shown, state.etag, isAway(state), pause], [refusal, null, null, false, 60000]);
    assert.equal(next(state, { status: 200, body: shown() }, true).state.refusal, null);
  }
});

// OBS 29 has Chromium 103.
test("overlay: nothing that Chromium 103 lacks", () => {
  const read = (path) => readFileSync(new URL(`../static/${path}`, import.meta.url), "utf8");
  const scripts = [...readdirSync(new URL("../static/overlay/", import.meta.url)).map((name) => `overlay/${name}`), "text/text.js"];
  for (const path of scripts) assert.doesNotMatch(read(path), /\.(toSorted|toReversed|toSpliced|isSubsetOf|union|getOrInsert)\(|\bgroupBy\(|Promise\.(withResolvers|try)|Array\.fromAsync|AbortSignal\.any|\/v[;,)]/, path);
  assert.doesNotMatch(read("style/overlay.css"), /:has\(|@container|@scope|color-mix|oklch|light-dark|text-wrap|\bdv[hw]\b|\d(dv|sv|lv)h|^\s+&/m);
});
