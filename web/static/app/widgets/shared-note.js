// @ts-check
// The note about the store that nodes share. It is empty while the store works.

import { html } from "../../vendor/htm-preact.js";
import { withCode } from "../words/code.js";
import { toMinute } from "../words/time.js";
/** @import { Shared } from "../core/state.js" */

// SharedNote is always drawn, because a screen reader announces changes only in elements that it
// knows. The problem may change meanwhile, so it is outside the announced element.
/** @param {{shared?: Shared}} props */
export function SharedNote({ shared }) {
  const isAway = shared?.up === false;
  const isRefusing = !isAway && shared?.refusing === true;
  const since = isAway && shared.since ? ` since ${toMinute(Date.parse(shared.since))}` : "";
  return html`
    <div class="shared-note ${isAway || isRefusing ? "away" : ""}">
      <div role="status">
        ${isAway && html`<p><strong class="bad">The shared store is away</strong>${since}. Each node decides on its own; messages that pass count when it is back.</p>`}
        ${isRefusing && html`<p><strong class="bad">The shared store refuses changes</strong>. Each node decides on its own; messages that pass count when it accepts changes again.</p>`}
      </div>
      ${(isAway || isRefusing) && shared?.problem && html`<p class="muted">${withCode(shared.problem)}</p>`}
    </div>
  `;
}
