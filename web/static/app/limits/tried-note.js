// @ts-check
// What became of the Lab's numbers, in a note that can be dismissed.

import { list, rich, sentences, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { dismissTried } from "./tried.js";
import { Icon } from "../widgets/icon.js";
/** @import { Tried } from "./tried.js" */

/** @param {{tried: Tried}} props */
export function TriedNote({ tried: { filled, added, wrong } }) {
  const isFilled = filled.length + added.length > 0;
  return html`
    <div class="note tried" role="status">
      <div>
        ${isFilled && html`<p>${filledText(filled, added)}</p>`}
        ${wrong.length > 0 && html`<p class="warn">${t("limits.tried-failed", { problems: sentences(...wrong) })}</p>`}
      </div>
      <button type="button" class="icon-only" id="dismiss-tried" title=${t("limits.dismiss")} aria-label=${t("limits.dismiss")} onClick=${dismissTried}><${Icon} name="close" /></button>
    </div>
  `;
}

/** @param {string[]} filled @param {string[]} added */
function filledText(filled, added) {
  if (added.length === 0) return rich("limits.tried-filled", { filled: names(filled) });
  if (filled.length === 0) return rich("limits.tried-added", { added: names(added) });
  return rich("limits.tried-both", { filled: names(filled), added: names(added) });
}

/** @param {string[]} all */
const names = (all) => list(all.map((name) => html`<bdi>${name}</bdi>`));
