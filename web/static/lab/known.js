// @ts-check
// Known limits as lanes, from the same list as the dashboard's.

import { sentences, t } from "../text/text.js";
import { html } from "../vendor/htm-preact.js";
import { bytesPerUser, knownLimits } from "../app/words/known-limits.js";
import { addLane } from "./edit.js";
/** @import { KnownLimit } from "../app/words/known-limits.js" */
/** @import { Limit } from "./state.js" */

// KnownLanes are entries of the menu that adds a lane.
export const KnownLanes = () => html`<hr />${knownLimits.map((known) => html`<${KnownLane} key=${known.id} known=${known} />`)}`;

/** @param {{known: KnownLimit}} props */
function KnownLane({ known }) {
  const { id, name, pros, cons, limits } = known;
  return html`
    <button type="button" id=${`add-known-${id}`} popovertarget="add-menu" popovertargetaction="hide" onClick=${() => addLane(/** @type {Limit[]} */ (structuredClone(limits)))}>
      <span>${name}<br /><span class="muted">${sentences(pros, cons, t("lab.bytes-of-state", { n: bytesPerUser(known) }))}</span></span>
    </button>
  `;
}
