// @ts-check
// The note about a failing or missing database. It is empty while the database is ok.

import { rich, sentences, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { now } from "../core/state.js";
import { wait } from "../words/time.js";
/** @import { Database, State } from "../core/state.js" */

// DatabaseNote is always drawn, because a screen reader announces changes only in elements that it
// knows. The numbers change every second, so they are outside the announced element.
/** @param {{database?: Database, policy: State["policy"]}} props */
export function DatabaseNote({ database, policy }) {
  const isFailing = database?.state === "failing";
  const lead = isFailing ? html`<strong class="bad">${t("widgets.database-failing-lead")}</strong>` : html`<strong>${t("widgets.database-off-lead")}</strong>`;
  return html`
    <div class="database-note ${database?.state ?? ""}">
      <div role="status">
        ${isFailing && html`<p>${database.detail ? rich("widgets.database-failing-detail", { lead, detail: database.detail }) : rich("widgets.database-failing", { lead })}</p>`}
        ${isFailing && policy?.saved === false && html`<p>${t("widgets.database-limits")}</p>`}
        ${database?.state === "off" && html`<p>${rich("widgets.database-off", { lead })}</p>`}
      </div>
      ${isFailing && html`<p class="muted">${figures(database)}</p>`}
    </div>
  `;
}

/** @param {Database} of */
function figures({ since, lag_seconds: lag, queued = 0, dropped = 0 }) {
  return sentences(
    since && t("widgets.database-since", { time: wait(now() - Date.parse(since)) }),
    queued > 0 && t("widgets.database-queued", { n: queued }),
    dropped > 0 && t("widgets.database-dropped", { n: dropped }),
    lag > 0 && t("widgets.database-lag", { time: wait(lag * 1000) }),
  );
}
