// The limits of the channel, to be changed. What is saved holds from the next message on.

import { html } from "../vendor/htm-preact.js";
import { LimitField } from "./limit-field.js";
import { discard, fields, isDirty, load, save, setField, setMode, undo } from "./policy.js";
import { clock, wait } from "./time.js";

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
      ${form.policy.limits.map((limit, i) => html`<${LimitSet} key=${limit.name} limit=${limit} index=${i} form=${form} />`)}
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

const labels = {
  burst: ["Messages at once", "messages"],
  refill: ["Then one more every", "seconds"],
  messages: ["Messages a day", "messages"],
};

function LimitSet({ limit, index, form }) {
  return html`
    <fieldset>
      <legend><bdi>${limit.name}</bdi></legend>
      <div class="fields">
        ${(fields[limit.algorithm] ?? []).map((field) => html`
          <${LimitField} key=${field} id=${`${field}-${index}`} label=${labels[field][0]} unit=${labels[field][1]}
            value=${form.draft.limits[index][field]} fixed=${form.busy} error=${form.errors[`${index}.${field}`]}
            onInput=${(text) => setField(index, field, text)} />
        `)}
      </div>
      <p class="muted">${meaning(limit, form.draft.limits[index], form.policy.timezone)}</p>
      <${RoleNotes} roles=${limit.roles} />
    </fieldset>
  `;
}

// meaning says what a limit comes to.
function meaning(limit, draft, timezone) {
  if (limit.algorithm === "daily-window") return `The day ends at ${limit.reset_at || "00:00"}, ${limit.timezone || timezone || "UTC"} time.`;
  const burst = Number(draft.burst), refill = Number(draft.refill);
  if (!(burst > 0 && refill > 0)) return "";
  const [perTime, time] = longRun(refill);
  return `In the long run ${perTime} ${time === "hour" ? "an" : "a"} ${time}. Whoever has used all ${burst} has them back after ${wait(burst * refill * 1000)} of silence.`;
}

// longRun says how many messages a refill in seconds allows, in the smallest unit of time that holds one.
function longRun(refill) {
  const [name, length] = [["minute", 60], ["hour", 3600], ["day", 86400]].find(([, length]) => refill <= length) ?? ["week", 604800];
  return [Number((length / refill).toPrecision(3)), name];
}

function RoleNotes({ roles }) {
  const notes = Object.entries(roles ?? {}).map(([role, own]) =>
    `${role.replaceAll("_", " ")}: ${Object.entries(own).map(([name, value]) => `${name} ${value}`).join(", ")}`);
  return notes.length > 0 && html`<p class="muted">Other numbers for ${notes.join("; ")}.</p>`;
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
