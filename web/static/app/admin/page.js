// @ts-check
// The page Admin: what only owners may do. Each card is a module of its own.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { pages } from "../core/route.js";
import { mayOwn, mayOwnAll } from "../core/state.js";
import { AccessCard } from "./access-card.js";
import { ModeratorsCard } from "./moderators-card.js";
import { OverlayCard } from "./overlay-card.js";
import { WebhooksCard } from "./webhooks-card.js";
import { PageHead } from "../widgets/page-head.js";
/** @import { State } from "../core/state.js" */

/** @param {{state: State}} props */
export function AdminPage({ state }) {
  return html`
    <link rel="stylesheet" href="style/admin.css" />
    <${PageHead} title=${pages.admin} />
    ${mayOwn() && !state.me.mounted
      ? html`
        <div class="cards">
          ${mayOwnAll() ? html`<${AccessCard} state=${state} />` : html`<p class="muted">${t("admin.installation-only")}</p>`}
          ${state.channel && !state.channel.startsWith("check:") && html`<${ModeratorsCard} key=${state.channel} state=${state} />`}
          ${mayOwnAll() && state.channel && html`<${OverlayCard} key=${state.channel} state=${state} />`}
          ${mayOwnAll() && html`<${WebhooksCard} state=${state} />`}
        </div>`
      : html`<p class="none muted">${t("admin.owners-only")}</p>`}
  `;
}
