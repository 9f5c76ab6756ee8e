// @ts-check
// Parts of the dashboard that are loaded when they are first needed.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { update } from "../core/state.js";
/** @import { View } from "../../vendor/htm-preact.js" */

/** @typedef {(props: any) => View} Component */

// lazily returns a function that returns a component. Until the component is loaded, the function
// returns an empty one. If loading fails while isShown returns true, it returns unloaded; otherwise
// the next call loads the component again.
/**
 * @param {() => Promise<Component>} load
 * @param {Component} unloaded
 * @param {() => boolean} isShown
 * @returns {() => Component}
 */
export function lazily(load, unloaded, isShown) {
  /** @type {Component | null} */
  let view = null;
  return () => {
    if (!view) {
      view = () => null;
      load().catch(() => (isShown() ? unloaded : null)).then((loaded) => update(() => (view = loaded)));
    }
    return view;
  };
}

// NotLoaded says that a part could not be loaded. Its button reloads the whole page, because a
// browser may remember that it could not load a module.
/** @param {{title: string}} props */
export function NotLoaded({ title }) {
  return html`
    <div class="nobody" role="alert">
      <p class="headline">${title}</p>
      <p>${t("shell.not-loaded")}</p>
      <p><button type="button" class="primary" onClick=${() => location.reload()}>${t("shell.retry")}</button></p>
    </div>
  `;
}
