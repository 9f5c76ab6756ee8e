// The Lab in a DOM: what the engine refuses is shown beside its field, and a link opens at its time.

import assert from "node:assert/strict";
import test from "node:test";
import { algorithms } from "../../list-algorithms.js";
import { all, click, find, see, text } from "../../testing/page.js";
import { answer, refuse, requests } from "../../testing/server.js";

const { state } = await import("../../static/app/core/state.js");
const { html, render } = await import("../../static/vendor/htm-preact.js");
const { Advice } = await import("../../static/lab/advice.js");
const { EditLane } = await import("../../static/lab/edit.js");
const { Lanes } = await import("../../static/lab/lanes.js");
const { clock, open, played, send } = await import("../../static/lab/player.js");
const { scenes } = await import("../../static/lab/scenes.js");
const { change, isMarked, lab, newLane, newYear, onChange } = await import("../../static/lab/state.js");
const { Figures } = await import("../../static/lab/table.js");
const { windowOf } = await import("../../static/lab/stage.js");
const { emptyStrip } = await import("../../static/lab/tape.js");
const { writeTexts } = await import("../../static/lab/texts.js");

test("lab: the field of a refused value is marked", async (t) => {
  state.algorithms = algorithms; // tests of other pages begin without
  const [first, second] = [{ name: "one" }, { name: "two" }].map((limit) => newLane([{ ...limit, algorithm: "token-bucket", burst: 3, refill: "4s" }]));
  const page = document.body.appendChild(document.createElement("div"));
  t.after(() => page.remove()); // or the tests of other pages find its fields
  onChange(() => render(html`<${EditLane} lane=${lab.lanes[1]} number=${2} />`, page));
  change((l) => Object.assign(l, { lanes: [first, second], edited: second.id, sent: [] }));
  await see(() => find(`#limit-${second.id}-0-burst`));

  const mistake = { lane: 2, limit: "two", parameter: "refill", problem: "It is too long." };
  answer("POST /lab", refuse(422, "lane 2: …", { mistake }));
  send(0);
  const id = `limit-${second.id}-0-refill`;
  await see(() => text(`#${id}-error`) === "It is too long.");
  assert.deepEqual([all("[aria-invalid=true]").length, find(`#${id}`).getAttribute("aria-invalid"), isMarked(lab), lab.problem], [1, "true", true, "lane 2: …"]);
  change((l) => (l.edited = first.id));
  assert.equal(isMarked(lab), false); // the page says it elsewhere
});

test("lab: a link that names a time stands there, although another scene was playing", (t) => {
  const { performance } = globalThis;
  let wall = performance.now();
  globalThis.performance = /** @type {any} */ ({ now: () => ++wall }); // time passes with each look at it
  t.after(() => (globalThis.performance = performance));
  onChange(() => {}); // nothing is drawn
  clock.play();
  change((l) => Object.assign(l, { lanes: [], sent: [], traffic: { kind: "hand" }, at: 0 }));
  open();
  assert.deepEqual([clock.isPlaying(), clock.now()], [false, 0]);
});

// show shows a lane, a token bucket of one, of which the first message passes.
async function show(t, more = {}) {
  state.algorithms = algorithms;
  const lane = newLane([{ name: "burst", algorithm: "token-bucket", burst: 1, refill: "4s", ...more }]);
  const step = (_, i) => ({ allowed: i === 0, limit: i === 0 ? "" : "burst", retry_after_ms: i === 0 ? 0 : 3000, delay_ms: 0, remaining: 0, reset_at: null, picture: { tokens: 0.25 } });
  answer("POST /lab", ({ body: { lanes, messages } }) => ({
    lanes: lanes.map(({ grants = [] }) => ({ name: "", bytes_per_user: 8, steps: messages.map(step), grants: grants.map(() => ({ until: [newYear + 86_400_000] })) })),
  }));
  const page = document.body.appendChild(document.createElement("div"));
  t.after(() => (render(null, page), page.remove()));
  onChange(() => render(html`<${Lanes} lab=${lab} /><${Figures} lanes=${lab.lanes} />`, page));
  change((l) => Object.assign(l, { lanes: [lane], sent: [{ at: 0 }, { at: 1000 }], grants: [], traffic: { kind: "hand" }, at: 2000, edited: 0 }));
  open();
  await see(() => played.tape.get(lane.id)?.entries.length === 2 && clock.now() === 2000 && find(".lane"));
  return lane;
}

test("lab: extra messages are granted to the user whose state a lane shows", async (t) => {
  const { id } = await show(t);
  writeTexts(2000);
  assert.deepEqual([text(`#words-${id}-0`), text(`#wait-${id}`)], ["0.5 of 1 tokens, next in 2.0 s", "throttled for 2.0 s"]);
  await click(".grant");
  await see(() => played.tape.get(id).grants.length === 1);
  assert.deepEqual(requests.at(-1).body.lanes[0].grants, [{ at: newYear + 2000, user_id: "anna", messages: 5 }]);
  writeTexts(2000);
  assert.deepEqual([text(`#words-${id}-0`), text(`#wait-${id}`)], ["0.5 of 1 tokens, next in 2.0 s, 5 extra", "ready"]);
});

test("lab: a limit on repeated text lets only the same message wait", async (t) => {
  const { id } = await show(t, { per: "text" });
  const { entries: [passed, throttled] } = played.tape.get(id);
  const waits = (entries) => {
    played.tape = new Map([[id, { ...emptyStrip, entries }]]);
    writeTexts(2000);
    return text(`#wait-${id}`);
  };
  assert.deepEqual([waits([passed]), waits([passed, throttled]), waits([{ ...passed, pictures: [null] }])], ["same in 1.0 s", "same in 2.0 s", "ready"]);
});

test("lab: names of buttons begin with what is written on them", async (t) => {
  await show(t);
  const textOf = (button, hidden) => [...button.childNodes].filter((part) => !part.matches?.(hidden)).map(({ textContent }) => textContent).join("").trim();
  const buttons = all(".lane button").map((button) => [textOf(button, ".unseen, [aria-hidden]"), button.getAttribute("aria-label") ?? textOf(button, "[aria-hidden]")]);
  assert.deepEqual(buttons.map(([shown]) => shown), ["Send", "Grant 5", "Edit"]);
  for (const [shown, name] of buttons) assert.ok(name.startsWith(shown) && name.length > shown.length, `${shown}: ${name}`);
});

test("lab: figures are attributes, too", async (t) => {
  await show(t);
  writeTexts(9000);
  assert.deepEqual({ ...find("[data-lane]").dataset }, {
    lane: "1", atMs: "9000", allowed: "1", throttled: "1", low: "0", mostInASecond: "1", mostInAMinute: "1", longestWaitMs: "3000", longestDelayMs: "0", longestSilenceMs: "9000", bytesPerUser: "8",
  });
});

test("lab: a lesson ends with what is for and against its algorithm, and each algorithm has one", (t) => {
  state.algorithms = algorithms;
  const page = document.body.appendChild(document.createElement("div"));
  t.after(() => (render(null, page), page.remove()));
  const told = new Set();
  for (const story of scenes.filter((scene) => scene.algorithms)) {
    render(html`<${Advice} lab=${{ story }} />`, page);
    assert.equal(all(".advice p").filter((line) => line.textContent !== "").length, story.algorithms.length, story.id);
    if (story.algorithms.length > 1) continue;
    assert.ok(all(".advice dd").every((line) => line.textContent !== "") && all(".advice dd").length === 2, story.id);
    told.add(story.algorithms[0]);
  }
  assert.deepEqual([...told].sort(), algorithms.map(({ name }) => name).sort());
});

test("lab: an empty stage says what to do, until something is sent", async (t) => {
  const { id } = await show(t);
  const shows = () => !find("#nothing-sent").hidden;
  const { entries } = played.tape.get(id);
  played.tape = new Map();
  writeTexts(0);
  assert.equal(shows(), true);
  played.tape = new Map([[id, { ...emptyStrip, entries }]]);
  writeTexts(2000);
  assert.equal(shows(), false);
});

test("lab: a scene begins at the left, and scrolls when the view is full", () => {
  change((l) => (l.span = 30_000));
  const at = [0, 3000, 30_000, 90_000].map((now) => windowOf(now, 600)), whole = at[3].edge;
  assert.deepEqual(at.map(({ from, line }) => [from, Math.round(line)]), [[-1, 0], [0, whole / 10], [0, whole], [60_000, whole]]);
});
