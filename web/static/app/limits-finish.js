// How an edit ends: what is to hold from then on, saving, discarding, and what came of it.

import { html } from "../vendor/htm-preact.js";
import { isDirty } from "./draft.js";
import { LimitsNotes } from "./limits-notes.js";
import { discard, edit } from "./policy.js";

export function LimitsFinish({ state }) {
  const { form, policy } = state;
  const dirty = isDirty(form);
  const wrong = Object.keys(form.errors).length;
  const stops = !dirty || wrong > 0 || form.busy || form.conflict;
  const present = (policy ?? form.policy).mode; // the form's is outdated while somebody else has changed it
  const isHeld = policy && policy.in_force !== policy.mode;
  return html`
    <div class="finish">
      <${LimitsNotes} state=${state} />
      <fieldset class="mode" disabled=${form.busy}>
        <legend class="unseen">What the limits do</legend>
        <${ModeChoice} form=${form} present=${present} mode="observe" name="Only observe" text="report, and hold nobody back" />
        <${ModeChoice} form=${form} present=${present} mode="enforce" name="Enforce" text="throttle" />
      </fieldset>
      ${isHeld && html`<p class="state notice">It only observes at present, whatever is chosen here: the top of the page says why.</p>`}
      <div class="buttons">
        <button class="primary" id="save" aria-disabled=${stops ? "true" : "false"}>${form.draft.mode === "observe" ? "Save, only observe" : "Save and enforce"}</button>
        <button type="button" class="discard" aria-disabled=${!dirty || form.busy ? "true" : "false"} onClick=${discard}>Discard changes</button>
        ${wrong > 0 && html`<span class="bad">${wrong === 1 ? "1 field is marked above." : `${wrong} fields are marked above.`}</span>`}
      </div>
    </div>
  `;
}

function ModeChoice({ form, present, mode, name, text }) {
  return html`
    <label class="choice">
      <input type="radio" name="mode" value=${mode} checked=${form.draft.mode === mode} onChange=${() => edit((draft) => (draft.mode = mode))} />
      <span><strong>${name}</strong>${present === mode && " (now)"} <span class="detail muted">${text}</span></span>
    </label>
  `;
}
