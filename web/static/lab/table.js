// @ts-check
// The figures of all lanes as a table. Its numbers are written by texts.js.

import { t } from "../text/text.js";
import { html } from "../vendor/htm-preact.js";
import { titleOf } from "./limits.js";
import { draw } from "./stage.js";
import { columns } from "./texts.js";
/** @import { Lane } from "./state.js" */

const isWide = innerWidth >= 900; // there is space for the table

/** @param {{lanes: Lane[]}} props */
export function Figures({ lanes }) {
  return html`
    <section class="figures chart" aria-labelledby="figures-title">
      <h2 class="headline" id="figures-title">${t("lab.figures")}</h2>
      <details onToggle=${draw} open=${isWide}>
        <summary>${t("lab.show-table")}</summary>
        <div class="scrolls" tabindex="0" role="region" aria-label=${t("lab.table")}>
          <table>
            <thead><tr><th scope="col">${t("lab.lane")}</th>${columns.map(([id, title]) => html`<th scope="col" key=${id}>${t(title)}</th>`)}</tr></thead>
            <tbody>
              ${lanes.map((lane, i) => html`
                <tr key=${lane.id} id=${`figures-${lane.id}`} data-lane=${i + 1}>
                  <th scope="row">${i + 1}. ${titleOf(lane)}</th>
                  ${columns.map(([id]) => html`<td key=${id} id=${`figure-${lane.id}-${id}`}></td>`)}
                </tr>`)}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  `;
}
