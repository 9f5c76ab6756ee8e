// @ts-check
// The dialog that is open, of those that every page can open.

import { update } from "./state.js";

/** @typedef {"palette" | "keys" | "alerts" | "modes"} DialogName */

// openDialog opens a dialog in place of any other; an empty name closes it.
/** @param {DialogName | ""} name */
export function openDialog(name) {
  update((s) => (s.dialog = name));
}
