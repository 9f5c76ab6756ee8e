// @ts-check
// The note about a failing or missing database. It is empty while the database is ok.

import { html } from "../../vendor/htm-preact.js";
import { now } from "../core/state.js";
import { wait } from "../words/time.js";
/** @import { Database, State } from "../core/state.js" */

const whole = new Intl.NumberFormat("en-GB");

// DatabaseNote is always drawn, because a screen reader announces changes only in elements that it
// knows. The numbers change every second, so they are outside the announced element.
/** @param {{database?: Database, policy: State["policy"]}} props */
export function DatabaseNote({ database, policy }) {
  const isFailing = database?.state === "failing";
  return html`
    <div class="database-note ${database?.state ?? ""}">
      <div role="status">
        ${isFailing && html`<p><strong class="bad">The database is failing</strong>${database.detail && `: ${database.detail}`}. Moderation continues from memory.</p>`}
        ${isFailing && policy?.saved === false && html`<p>Changed limits are in force but not saved: a restart now would undo them.</p>`}
        ${database?.state === "off" && html`<p><strong>Nothing is saved</strong>: chatguard runs without a database. A restart resets everyone’s usage.</p>`}
      </div>
      ${isFailing && html`<p class="muted">${figures(database)}</p>`}
    </div>
  `;
}

/** @param {Database} of */
function figures({ since, lag_seconds: lag, queued = 0, dropped = 0 }) {
  const sentences = [
    since && `Failing for ${wait(now() - Date.parse(since))}.`,
    queued > 0 && `${whole.format(queued)} ${queued === 1 ? "record" : "records"} pending.`,
    dropped > 0 && `${whole.format(dropped)} dropped: too many were pending.`,
    lag > 0 && `A crash now would lose the last ${wait(lag * 1000)}.`,
  ];
  return sentences.filter(Boolean).join(" ");
}
