// What is shown before chatguard knows any channel.

import { html } from "../vendor/htm-preact.js";

export function WaitingPage() {
  return html`
    <div class="nobody">
      <p class="headline">Waiting for Twitch to let us into the channel.</p>
    </div>
  `;
}
