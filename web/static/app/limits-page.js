// The limits of the channel, to be changed. What is saved holds from the next message on.

import { html } from "../vendor/htm-preact.js";
import { LimitCard } from "./limit-card.js";
import { LimitsNotes } from "./limits-notes.js";
import { discard, isDirty, save, setMode } from "./policy.js";
import { clock } from "./time.js";

export function LimitsPage({ state }) {
  const { form } = state;
  if (!form?.policy) return form?.problem ? html`<p class="error" role="alert">${form.problem}</p>` : html`<p class="muted">Loading the limits…</p>`;
  const submit = (event) => {
    event.preventDefault();
    save();
  };
  return html`
    <form class="limits" onSubmit=${submit} novalidate>
      <h1>Limits</h1>
      <p class="muted">${origin(form.revision)} A change holds from the next message on.</p>
      <${ModeSwitch} form=${form} policy=${state.policy} />
      ${form.policy.limits.map((limit, i) => html`<${LimitCard} key=${limit.name} limit=${limit} index=${i} form=${form} />`)}
      ${form.policy.limits.length === 0 && html`<p class="none muted">There are no limits: nobody is throttled.</p>`}
      <${Finish} state=${state} />
    </form>
  `;
}

function origin(revision) {
  if (revision === undefined) return "Who changed them last can’t be read now.";
  if (!revision?.changes?.length) return "As in the configuration file.";
  return html`Changed by <bdi>${revision.author}</bdi>, ${clock(Date.parse(revision.at))}.`;
}

function ModeSwitch({ form, policy }) {
  const ladder = form.policy.penalties.ladder.join(", ") || "drop";
  return html`
    <fieldset class="mode" disabled=${form.busy}>
      <legend>Mode</legend>
      <${ModeChoice} form=${form} mode="observe" name="Observe" text="Only report who would be throttled. Nobody is held back." />
      <${ModeChoice} form=${form} mode="enforce" name="Enforce" text=${`Throttle. Step by step: ${ladder}.`} />
      ${policy && policy.in_force !== policy.mode && html`<p class="state notice">It only observes at present, whatever is chosen here: the top of the page says why.</p>`}
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

function Finish({ state }) {
  const { form } = state;
  const dirty = isDirty(form);
  const wrong = Object.keys(form.errors).length > 0;
  return html`
    <div class="finish">
      <${LimitsNotes} state=${state} />
      <div class="buttons">
        <button class="primary" disabled=${!dirty || wrong || form.busy || form.conflict}>Save</button>
        <button type="button" disabled=${!dirty || form.busy} onClick=${discard}>Discard changes</button>
      </div>
    </div>
  `;
}
