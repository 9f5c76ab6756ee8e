// @ts-check
// The dialogs that every page can open: command palette, keys, chat modes, alerts. They are loaded
// when they are first opened.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { openDialog } from "../core/dialog.js";
import { state, update } from "../core/state.js";
import { lazily, NotLoaded } from "./lazy.js";
import { Dialog } from "../widgets/dialog.js";
/** @import { DialogName } from "../core/dialog.js" */
/** @import { State } from "../core/state.js" */
/** @import { Component } from "./lazy.js" */

/** @param {DialogName} name @param {() => Promise<Component>} load */
const later = (name, load) => lazily(load, Unloaded, () => state.dialog === name);

/** @type {Record<DialogName, () => Component>} */
const views = {
  palette: later("palette", () => import("./palette.js").then((module) => module.Palette)),
  keys: later("keys", () => import("./keys-dialog.js").then((module) => module.KeysDialog)),
  modes: later("modes", () => import("../now/modes-dialog.js").then((module) => module.ModesDialog)),
  alerts: later("alerts", () => import("./alerts-dialog.js").then((module) => module.AlertsDialog)),
};

/** @param {{state: State}} props */
export function OpenDialog({ state }) {
  const { dialog } = state;
  if (!dialog) return null;
  const close = () => update((s) => s.dialog === dialog && openDialog("")); // unless another has replaced it
  return html`<${views[dialog]()} key=${dialog} state=${state} onClose=${close} />`;
}

/** @param {{onClose: () => void}} props */
function Unloaded({ onClose }) {
  return html`<${Dialog} label=${t("shell.not-available")} name="unloaded" onClose=${onClose}><${NotLoaded} title=${t("shell.dialog-not-loaded")} /><//>`;
}
