// What is asked before a user is granted messages, exempted or reset.

import { html } from "../vendor/htm-preact.js";
import { LimitField } from "./limit-field.js";
import { now } from "./state.js";
import { clock } from "./time.js";
import { dayEnd, edit, grantable } from "./user-changes.js";

export function GrantFields({ person: { form, card } }) {
  const { messages, limit } = form.draft;
  return html`
    <div class="fields">
      <${LimitField} id="grant-messages" label="Extra messages" unit="messages" value=${messages} fixed=${form.busy} error=${form.errors.messages}
        onInput=${(text) => edit({ messages: text })} />
      <div class="field">
        <label for="grant-limit">In the limit</label>
        <select id="grant-limit" value=${limit} onChange=${(event) => edit({ limit: event.target.value })}>
          ${grantable(card).map(({ name }) => html`<option value=${name} selected=${name === limit}>${name}</option>`)}
        </select>
      </div>
    </div>
    <p class="muted">They are used when the regular ones don’t fit, and end with the limit’s window or the user’s day.</p>
  `;
}

const lengths = { "10m": "for 10 minutes", "1h": "for an hour", "4h": "for 4 hours" };

export function ExemptFields({ person: { form, card } }) {
  const end = dayEnd(card);
  const choices = { ...lengths, ...(end > now() && { day: `until their day ends, ${clock(end, card.timezone)}` }), "": "until somebody changes it" };
  return html`
    <div class="field">
      <label for="exempt-length">No limits</label>
      <select id="exempt-length" value=${form.draft.length} onChange=${(event) => edit({ length: event.target.value })}>
        ${Object.entries(choices).map(([length, name]) => html`<option value=${length} selected=${length === form.draft.length}>${name}</option>`)}
      </select>
    </div>
  `;
}

export function ResetQuestion({ person: { card } }) {
  return html`<p>Reset <bdi>${card.login || card.user_id}</bdi>? Everything they have used is forgotten, and so are their strikes.</p>`;
}
