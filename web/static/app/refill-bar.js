// A bar that fills from the first throttled message to the moment its author may speak. The browser animates it; nothing is drawn anew.
// Give it a key of both times: an animation under way can't be moved.

import { html, useState } from "../vendor/htm-preact.js";
import { now } from "./state.js";

export function RefillBar({ since, until }) {
  const [style] = useState(() => ({ animationDuration: `${until - since}ms`, animationDelay: `${since - now()}ms` }));
  return html`<span class="refill" aria-hidden="true"><span class="filled" style=${style}></span></span>`;
}
