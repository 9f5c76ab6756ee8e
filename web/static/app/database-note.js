// What a moderator has to know of the database on the first page: nothing while it is well.

import { html } from "../vendor/htm-preact.js";
import { now } from "./state.js";
import { wait } from "./time.js";

const whole = new Intl.NumberFormat("en-GB");

// DatabaseNote is there always, and empty mostly: a screen reader hears only of what changes in a place that it knows. The numbers, which change
// every second, stand outside that place.
export function DatabaseNote({ database, policy }) {
  const isFailing = database?.state === "failing";
  return html`
    <div class="database-note ${database?.state ?? ""}">
      <div role="status">
        ${isFailing && html`<p><strong class="bad">The database is failing</strong>${database.detail && `: ${database.detail}`}. Chat goes on in memory.</p>`}
        ${isFailing && policy?.saved === false && html`<p>The limits were changed meanwhile. They are in force, and a restart now would undo that.</p>`}
        ${database?.state === "off" && html`<p><strong>Nothing is kept</strong>: started without a database. A restart forgets what everyone has used.</p>`}
      </div>
      ${isFailing && html`<p class="muted">${figures(database)}</p>`}
    </div>
  `;
}

function figures({ since, lag_seconds: lag, queued = 0, dropped = 0 }) {
  const sentences = [
    since && `Failing for ${wait(now() - Date.parse(since))}.`,
    queued > 0 && `${whole.format(queued)} ${queued === 1 ? "record waits" : "records wait"} to be written.`,
    dropped > 0 && `${whole.format(dropped)} had to be dropped, because too many waited.`,
    lag > 0 && `A crash now would lose the last ${wait(lag * 1000)}.`,
  ];
  return sentences.filter(Boolean).join(" ");
}
