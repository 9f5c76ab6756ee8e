// @ts-check
// The place of the checklist. The checklist itself is loaded only if something is missing.

import { loadTexts } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { mayModerate, update } from "../core/state.js";
import { look } from "./setup.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */
/** @import { Start } from "./setup.js" */

/** @typedef {(props: {state: State, start: Start}) => View} Component */

/** @type {Component | null} */
let Checklist = null;
let loading = false;

async function load() {
  if (loading) return;
  loading = true;
  try {
    const [module] = await Promise.all([import("./checklist.js"), loadTexts("start", "unread")]);
    update(() => (Checklist = module.Checklist));
  } catch {
    loading = false; // the next drawing tries again
  }
}

// isShown reports whether the checklist has something to say: a step is missing, or the last one
// was done just now, or the person asked for it.
/** @param {State} of */
export function isShown({ start, query, channel }) {
  if (!start?.setup || start.channel !== channel) return false;
  return query.setup === "1" || (start.wasMissing && !start.isHidden);
}

// SetupCard shows the checklist to people who may act on it.
/** @param {{state: State}} props */
export function SetupCard({ state }) {
  if (state.me.mounted || !mayModerate() || !state.status) return null;
  look(state);
  if (!isShown(state)) return null;
  if (!Checklist) load();
  return Checklist && html`<${Checklist} state=${state} start=${state.start} />`;
}
