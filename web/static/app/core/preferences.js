// @ts-check
// What a person has chosen for this browser: theme, density and alerts. The browser keeps it.

import { state, update } from "./state.js";
/** @import { Preferences } from "./state.js" */

const key = "chatguard"; // appearance.js reads it, too

// restore applies the preferences that the browser keeps.
export function restore() {
  const found = stored();
  update((s) => (s.preferences = { ...s.preferences, ...found, alerts: { ...s.preferences.alerts, ...found.alerts } }));
}

/** @returns {Partial<Preferences>} */
function stored() {
  try {
    return JSON.parse(localStorage.getItem(key)) ?? {};
  } catch {
    return {}; // the browser keeps nothing, or something else
  }
}

// prefer changes preferences, for all windows of this browser.
/** @param {Partial<Preferences>} news */
export function prefer(news) {
  update((s) => (s.preferences = { ...s.preferences, ...news }));
  dispatchEvent(new CustomEvent("appearance", { detail: state.preferences }));
  try {
    localStorage.setItem(key, JSON.stringify(state.preferences));
  } catch {
    // It applies until the page is closed.
  }
}
