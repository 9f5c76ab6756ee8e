// @ts-check
// The status line of the header, and the list of states that it opens.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { openNodes } from "../now/nodes.js";
import { partsOf, summaryOf } from "./status.js";
import { annotated } from "../widgets/annotated.js";
import { Icon } from "../widgets/icon.js";
import { withCode } from "../words/code.js";
/** @import { State } from "../core/state.js" */
/** @import { Part } from "./status.js" */

/** @param {{state: State}} props */
export function Status({ state }) {
  const { kind, icon, word } = summaryOf(state);
  return html`
    <button type="button" class="status ${kind}" popovertarget="states" title=${t("shell.status", { word })}>
      ${icon ? html`<${Icon} name=${icon} />` : html`<span class="dot"></span>`}
      ${annotated("unseen", "shell.status", { word: html`<span class="word">${word}</span>` })}
      <${Icon} name="chevron-down" />
    </button>
    <div id="states" class="menu" popover="auto">
      <ul class="states ${state.feed.state === "lost" ? "stale" : ""}" aria-label=${t("shell.states")}>
        ${partsOf(state).map((part) => html`<${Line} key=${part.text} part=${part} />`)}
      </ul>
      ${state.status?.shared && state.me.all && html`<a href=${linkTo(state, "now", { nodes: "1" })} onClick=${shutForNodes}><${Icon} name="nodes" />${t("shell.nodes")}</a>`}
      ${state.start?.setup && html`<a href=${linkTo(state, "now", { setup: "1" })} onClick=${shut}><${Icon} name="check" />${t("shell.setup")}</a>`}
    </div>
  `;
}

// shut closes the list, which a link within the page would leave open.
/** @param {{currentTarget: HTMLElement}} event */
const shut = ({ currentTarget }) => /** @type {HTMLElement} */ (currentTarget.closest("[popover]")).hidePopover();

/** @param {{currentTarget: HTMLElement}} event */
function shutForNodes(event) {
  shut(event);
  openNodes();
}

// Line is a word with a colored dot.
/** @param {{part: Part}} props */
function Line({ part: { kind, text, detail } }) {
  return html`<li class="state ${kind}">${text}${detail && html` <span class="detail">${withCode(detail)}</span>`}</li>`;
}
