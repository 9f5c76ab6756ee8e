// The button that pardons a throttled message, and how that went in its place.

import { html } from "../vendor/htm-preact.js";
import { nameOf } from "./amending.js";
import { forgive } from "./pardons.js";
import { mayModerate } from "./state.js";
import { stamp } from "./time.js";

// PardonButton stays where it is when it is pressed, so that it keeps the focus; what was pardoned before has none. The time is written in the zone
// given, or else in the browser's.
export function PardonButton({ state, entry, zone, then }) {
  const pardoned = state.pardons[entry.id];
  if (entry.pardoned && !pardoned) return html`<${Pardoned} note=${entry.pardoned} zone=${zone} />`;
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

function Pardoned({ note: { by, at }, zone }) {
  const when = stamp(Date.parse(at), zone);
  return html`<span class="pardon muted" title="by ${by}, ${when}">Pardoned<span class="unseen"> by <bdi>${by}</bdi>, ${when}</span></span>`;
}
