// What is shown before chatguard knows any channel.

import { html } from "../vendor/htm-preact.js";
import { DatabaseNote } from "./database-note.js";

export function WaitingPage({ state }) {
  const isTwitch = state.status?.connections.some((c) => c.name === "Twitch");
  return html`
    <${DatabaseNote} database=${state.status?.database} policy=${state.policy} />
    <div class="nobody">
      ${state.status && html`
        <p class="headline">${isTwitch ? "Waiting for Twitch to let us into the channel." : "No message has come yet. A channel shows here with its first."}</p>`}
    </div>
  `;
}
