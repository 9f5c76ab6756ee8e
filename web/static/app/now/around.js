// @ts-check
// The messages around a throttled one, below its row.

import { html } from "../../vendor/htm-preact.js";
import { nameOf } from "../core/state.js";
import { close, controlID } from "./question.js";
import { Name, Roles } from "../widgets/chatter.js";
import { Icon } from "../widgets/icon.js";
import { stamp } from "../words/time.js";
/** @import { User } from "../core/state.js" */
/** @import { Held } from "./held-row.js" */

/** @param {{user: User, held: Held}} props */
export function Around({ user, held: { around } }) {
  return html`
    <div class="around">
      <div class="around-head">
        <h2>Messages around it</h2>
        <button type="button" class="icon-only" id=${controlID(user.user_id, "first")} aria-label="Close" title="Close" onClick=${close}><${Icon} name="close" /></button>
      </div>
      ${around === null && html`<p class="muted" role="status">Loading…</p>`}
      ${around?.length === 0 && html`
        <p class="muted" role="status">The messages around it are no longer in memory: they are never stored, and are kept for 10 minutes at most.</p>`}
      ${around?.length > 0 && html`<ol tabindex="0" aria-label="Messages around that of ${nameOf(user)}">${around.map((said) => html`<${Message} said=${said} />`)}</ol>`}
    </div>
  `;
}

/** @param {{said: Api.Said}} props */
function Message({ said }) {
  const { at, roles, text, throttled, observed, asked } = said;
  const mark = throttled && (observed ? "observed" : "throttled");
  return html`
    <li class=${asked ? "asked" : ""}>
      <time datetime=${at}>${stamp(Date.parse(at))}</time>
      <span class="line">
        <${Roles} roles=${roles} /><${Name} user=${said} />:${" "}
        ${text ? html`<bdi>${text}</bdi>` : html`<span class="muted">no text</span>`}
      </span>
      ${mark && html`<span class="chip ${observed ? "observed" : "deleted"}">${mark}</span>`}
    </li>
  `;
}
