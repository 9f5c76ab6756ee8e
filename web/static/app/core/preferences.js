// @ts-check
// What a person has chosen for this browser: theme, density and alerts. The browser keeps it.

import { state, update } from "./state.js";
/** @import { Preferences } from "./state.js" */

const key = "chatguard"; // appearance.js reads it, too

// stored returns the preferences that the browser keeps. A page with a ban on storage has none.
/** @returns {Partial<Preferences>} */
export function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(key));
    return found && typeof found === "object" ? found : {};
  } catch {
    return {};
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
