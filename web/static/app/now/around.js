// @ts-check
// The messages around a throttled one, below its row.

import { t } from "../../text/text.js";
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
        <h2>${t("now.around-title")}</h2>
        <button type="button" class="icon-only" id=${controlID(user.user_id, "first")} aria-label=${t("shell.close")} title=${t("shell.close")} onClick=${close}><${Icon} name="close" /></button>
      </div>
      ${around === null && html`<p class="muted" role="status">${t("shell.loading")}</p>`}
      ${around?.length === 0 && html`
        <p class="muted" role="status">${t("now.around-gone")}</p>`}
      ${around?.length > 0 && html`<ol tabindex="0" aria-label=${t("now.around-of", { who: nameOf(user) })}>${around.map((said) => html`<${Message} said=${said} />`)}</ol>`}
    </div>
  `;
}

/** @param {{said: Api.Said}} props */
function Message({ said }) {
  const { at, roles, text, throttled, observed, asked } = said;
  const mark = throttled && (observed ? t("now.observed") : t("now.throttled"));
  return html`
    <li class=${asked ? "asked" : ""}>
      <time datetime=${at}>${stamp(Date.parse(at))}</time>
      <span class="line">
        <${Roles} roles=${roles} /><${Name} user=${said} />:${" "}
        ${text ? html`<bdi>${text}</bdi>` : html`<span class="muted">${t("now.no-text")}</span>`}
      </span>
      ${mark && html`<span class="chip ${observed ? "observed" : "deleted"}">${mark}</span>`}
    </li>
  `;
}
