// @ts-check
// Parts of the page that are loaded when a scene or the traffic first needs them.

import { t } from "../text/text.js";
import { NotLoaded } from "../app/shell/lazy.js";
import { html } from "../vendor/htm-preact.js";
import { change } from "./state.js";
/** @import { View } from "../vendor/htm-preact.js" */
/** @import { More, Setup } from "./state.js" */

/** @typedef {"advice" | "chat" | "push" | "accuracy" | "edge"} ViewName */

/** @typedef {(props: {lab: Setup & More}) => View | null} Component */

/** @type {Record<ViewName, () => Promise<Component>>} */
const loads = {
  advice: () => import("./advice.js").then(({ Advice }) => Advice),
  chat: () => import("./chat/chat.js").then(({ Chat }) => Chat),
  push: () => import("./experiments/push.js").then(({ Push }) => Push),
  accuracy: () => import("./experiments/accuracy.js").then(({ Accuracy }) => Accuracy),
  edge: () => import("./experiments/edge.js").then(({ Edge }) => Edge),
};

/** @type {Map<ViewName, Component>} */
const views = new Map();

// viewOf returns a view. Until it is loaded, it returns an empty one.
/** @param {ViewName} name @returns {Component} */
export function viewOf(name) {
  if (!views.has(name)) {
    views.set(name, () => null);
    loads[name]().catch(() => () => html`<${NotLoaded} title=${t("lab.not-loaded")} />`).then((view) => change(() => views.set(name, view)));
  }
  return views.get(name);
}
