// The experiment "At the edge" in a DOM: its curves are told apart without their colours.

import assert from "node:assert/strict";
import test from "node:test";
import { algorithms } from "../../list-algorithms.js";
import { all, find, see } from "../../testing/page.js";
import { answer } from "../../testing/server.js";

const { state } = await import("../../static/app/core/state.js");
const { html, render } = await import("../../static/vendor/htm-preact.js");
const { Edge } = await import("../../static/lab/experiments/edge.js");

test("edge: each curve has a sign and dashes of its own, in the legend and the table", async (t) => {
  state.algorithms = algorithms; // tests of other pages begin without
  const step = { allowed: false, limit: "window", retry_after_ms: 0, delay_ms: 0, remaining: 0, reset_at: null };
  answer("POST /lab", ({ body: { lanes, messages = [] } }) => ({ lanes: lanes.map(() => ({ name: "", bytes_per_user: 8, edge: 15, steps: messages.map(() => step) })) }));
  const page = document.body.appendChild(document.createElement("div"));
  t.after(() => (render(null, page), page.remove()));
  render(html`<${Edge} />`, page);
  await see(() => find("#edge-table"));

  /** @param {string} place */
  const toldIn = (place) => all(`${place} .told`).map((swatch) => [swatch.nextElementSibling.textContent, swatch.firstElementChild.getAttribute("stroke-dasharray")]);
  const legend = toldIn(".legend");
  assert.deepEqual(legend.map(([sign]) => sign), ["1", "2", "3", "4", "5", "6"]);
  assert.equal(new Set(legend.map(([, dashes]) => dashes)).size, 6);
  assert.deepEqual(toldIn("#edge-table"), legend);
});
