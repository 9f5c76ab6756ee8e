// The button that pardons a throttled message, and how that went in its place.

import { html } from "../vendor/htm-preact.js";
import { nameOf } from "./amending.js";
import { forgive } from "./pardons.js";
import { mayModerate } from "./state.js";

// PardonButton stays where it is when it is pressed, so that it keeps the focus.
export function PardonButton({ state, entry, then }) {
  const pardoned = state.pardons[entry.id];
  const isDone = pardoned && !pardoned.busy && !pardoned.problem;
  const name = nameOf(entry).slice(0, 50); // hostile ones are long
  return html`
    <span class="pardon">
      ${mayModerate() && html`
        <button type="button" class="small" aria-disabled=${pardoned?.busy || isDone ? "true" : "false"}
          aria-label=${isDone ? null : `Pardon this message of ${name}`} onClick=${() => isDone || forgive(entry.id, then)}>
          ${isDone ? "Pardoned" : "Pardon"}
        </button>`}
      <span role="status" class="answer">
        ${isDone && !pardoned.saved && html`<span class="warn">not saved yet</span>`}
        ${pardoned?.problem && html`<span class="bad" title=${pardoned.problem}>${pardoned.problem}</span>`}
      </span>
    </span>
  `;
}
