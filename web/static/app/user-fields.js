// What is asked before a user is granted messages, exempted or reset.

import { html } from "../vendor/htm-preact.js";
import { exemptLengths, grantable } from "./giving.js";
import { LimitField } from "./limit-field.js";
import { ResetWords } from "./reset-words.js";
import { shownID } from "./state.js";
import { edit } from "./user-changes.js";

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

export function ExemptFields({ person: { form, card } }) {
  return html`
    <div class="field">
      <label for="exempt-length">No limits</label>
      <select id="exempt-length" value=${form.draft.length} onChange=${(event) => edit({ length: event.target.value })}>
        ${exemptLengths(card).map(({ length, name }) => html`<option value=${length} selected=${length === form.draft.length}>${name}</option>`)}
      </select>
    </div>
  `;
}

export function ResetQuestion({ person: { card } }) {
  return html`<p><${ResetWords} name=${card.login || shownID(card.user_id)} /></p>`;
}
