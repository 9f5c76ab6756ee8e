// @ts-check
// The note about the store that nodes share. It is empty while the store works.

import { rich, t } from "../../text/text.js";
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
  return html`
    <div class="shared-note ${isAway || isRefusing ? "away" : ""}">
      <div role="status">
        ${isAway && html`<p>${awayWords(shared)}</p>`}
        ${isRefusing && html`<p>${rich("widgets.shared-refusing", { lead: html`<strong class="bad">${t("widgets.shared-refusing-lead")}</strong>` })}</p>`}
      </div>
      ${(isAway || isRefusing) && shared?.problem && html`<p class="muted">${withCode(shared.problem)}</p>`}
    </div>
  `;
}

/** @param {Shared} of */
function awayWords({ since }) {
  const lead = html`<strong class="bad">${t("widgets.shared-away-lead")}</strong>`;
  return since ? rich("widgets.shared-away-since", { lead, time: toMinute(Date.parse(since)) }) : rich("widgets.shared-away", { lead });
}
