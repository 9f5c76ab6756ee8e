// What is shown before chatguard knows any channel.

import { html } from "../vendor/htm-preact.js";
import { DatabaseNote } from "./database-note.js";

export function WaitingPage({ state }) {
  return html`
    <${DatabaseNote} database=${state.status?.database} policy=${state.policy} />
    <div class="nobody">
      <p class="headline">Waiting for Twitch to let us into the channel.</p>
    </div>
  `;
}
