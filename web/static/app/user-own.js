// What a user has of their own, in words: in the channel, and in all channels.

import { html } from "../vendor/htm-preact.js";
import { OverrideWords } from "./override-words.js";

export function UserOwn({ card: { override, everywhere_override: everywhere = {}, timezone } }) {
  return html`
    <section class="part" aria-labelledby="own">
      <h3 id="own">Of their own</h3>
      <p><${OverrideWords} own=${override} zone=${timezone} none="Nothing: they are judged as their role is." /></p>
      ${Object.keys(everywhere).length > 0 && html`
        <p>In all channels: <${OverrideWords} own=${everywhere} zone=${timezone} none="" /> <span class="muted">It can’t be changed in one of them.</span></p>`}
    </section>
  `;
}
