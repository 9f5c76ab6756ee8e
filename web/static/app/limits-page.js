// The limits of the channel, to be changed. What is saved holds from the next message on.

import { html } from "../vendor/htm-preact.js";
import { LimitCard } from "./limit-card.js";
import { discard, isDirty, load, save, setMode, undo } from "./policy.js";
import { clock } from "./time.js";

export function LimitsPage({ state: { form } }) {
  if (!form?.policy) return form?.problem ? html`<p class="error" role="alert">${form.problem}</p>` : html`<p class="muted">Loading the limits…</p>`;
  const submit = (event) => {
    event.preventDefault();
    save();
  };
  return html`
    <form class="limits" onSubmit=${submit} novalidate>
      <h1>Limits</h1>
      <p class="muted">${origin(form.revision)} A change holds from the next message on.</p>
      <${ModeSwitch} form=${form} />
      ${form.policy.limits.map((limit, i) => html`<${LimitCard} key=${limit.name} limit=${limit} index=${i} form=${form} />`)}
      ${form.policy.limits.length === 0 && html`<p class="none muted">There are no limits: nobody is throttled.</p>`}
      <${Finish} form=${form} />
    </form>
  `;
}

function origin(revision) {
  if (!revision?.changes?.length) return "As in the configuration file.";
  return html`Changed by <bdi>${revision.author}</bdi>, ${clock(Date.parse(revision.at))}.`;
}

function ModeSwitch({ form }) {
  const ladder = form.policy.penalties.ladder.join(", ") || "drop";
  return html`
    <fieldset class="mode" disabled=${form.busy}>
      <legend>Mode</legend>
      <${ModeChoice} form=${form} mode="observe" name="Observe" text="Only report who would be throttled. Nobody is held back." />
      <${ModeChoice} form=${form} mode="enforce" name="Enforce" text=${`Throttle. Step by step: ${ladder}.`} />
    </fieldset>
  `;
}

function ModeChoice({ form, mode, name, text }) {
  return html`
    <label class="choice">
      <input type="radio" name="mode" value=${mode} checked=${form.draft.mode === mode} onChange=${() => setMode(mode)} />
      <span><strong>${name}</strong> <span class="muted">${text}</span></span>
    </label>
  `;
}

function Finish({ form }) {
  const dirty = isDirty(form);
  const wrong = Object.keys(form.errors).length > 0;
  return html`
    <div class="finish">
      <${Notes} form=${form} dirty=${dirty} />
      <div class="buttons">
        <button class="primary" disabled=${!dirty || wrong || form.busy || form.conflict}>Save</button>
        <button type="button" disabled=${!dirty || form.busy} onClick=${discard}>Discard changes</button>
      </div>
    </div>
  `;
}

function Notes({ form: { conflict, problem, saved, busy }, dirty }) {
  return html`
    <div aria-live="polite">
      ${conflict && html`
        <p class="note bad">
          <span>
            ${conflict.author ? html`<bdi>${conflict.author}</bdi>` : "Somebody else"} has changed these limits meanwhile.
            Load them, then make your change again.
          </span>
          <button type="button" onClick=${load}>Load the new limits</button>
        </p>`}
      ${problem && html`<p class="note bad">${problem}</p>`}
      ${saved && !dirty && html`
        <p class="note good">
          <span>Saved by <bdi>${saved.revision.author}</bdi>, ${clock(Date.parse(saved.revision.at))}. The next message is judged by it.</span>
          <button type="button" disabled=${busy} onClick=${undo}>Undo</button>
        </p>`}
    </div>
  `;
}
