// @ts-check
// What became of the Lab's numbers, in a note that can be dismissed.

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
        ${isFilled && html`
          <p>Numbers from the Lab: ${filled.length > 0 && html`filled in ${names(filled)}`}${filled.length > 0 && added.length > 0 && ", "}${added.length > 0 && html`added ${names(added)}`}. Nothing changes until you save.</p>`}
        ${wrong.length > 0 && html`<p class="warn">Not filled in: ${wrong.join(" ")}</p>`}
      </div>
      <button type="button" class="icon-only" id="dismiss-tried" title="Dismiss" aria-label="Dismiss" onClick=${dismissTried}><${Icon} name="close" /></button>
    </div>
  `;
}

/** @param {string[]} list */
const names = (list) => list.map((name, i) => html`${i > 0 && " and "}<bdi>${name}</bdi>`);
