// The Lab in a DOM: what the engine refuses is shown beside its field, and a link opens at its time.

import assert from "node:assert/strict";
import test from "node:test";
import { algorithms } from "../../list-algorithms.js";
import { all, find, see, text } from "../../testing/page.js";
import { answer, refuse } from "../../testing/server.js";

const { state } = await import("../../static/app/core/state.js");
const { html, render } = await import("../../static/vendor/htm-preact.js");
const { EditLane } = await import("../../static/lab/edit.js");
const { clock, open, send } = await import("../../static/lab/player.js");
const { change, isMarked, lab, newLane, onChange } = await import("../../static/lab/state.js");

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
