// @ts-check
// The bar to save the limits: the mode, the buttons, and notes on conflicts, problems and saving.

import { html } from "../../vendor/htm-preact.js";
import { combine, compare, mine } from "./conflict.js";
import { isDirty } from "./draft.js";
import { discard, edit, isUnsaved, load, undo } from "./form.js";
import { ChangeList } from "../words/changes.js";
import { clock } from "../words/time.js";
import { whyIdle } from "../words/idle.js";
import { unsavedLimits } from "../words/unsaved.js";
/** @import { State } from "../core/state.js" */
/** @import { Form } from "./form.js" */

/** @param {{state: State}} props */
export function LimitsFinish({ state }) {
  const { form, policy } = state;
  const dirty = isDirty(form);
  const wrong = Object.keys(form.errors).length;
  const stops = !dirty || wrong > 0 || form.busy || form.conflict;
  const present = (policy ?? form.policy).mode; // form.policy may be older than the feed's policy
  const { mode } = form.draft;
  return html`
    <div class="finish">
      <${LimitsNotes} state=${state} />
      <div class="save-row">
        <fieldset class="mode" disabled=${form.busy}>
          <legend class="unseen">Mode</legend>
          <${ModeChoice} form=${form} present=${present} mode="observe" name="Observe only" />
          <${ModeChoice} form=${form} present=${present} mode="enforce" name="Enforce" />
        </fieldset>
        <p class="effect muted">${mode === "observe" ? "Nobody is throttled; the journal shows who would be." : html`Messages over the limits are throttled.<${NotYet} state=${state} />`}</p>
        <div class="buttons">
          ${wrong > 0 && html`<span class="bad">${wrong === 1 ? "Fix 1 field above." : `Fix ${wrong} fields above.`}</span>`}
          <button type="button" class="discard" aria-disabled=${!dirty || form.busy ? "true" : "false"} onClick=${discard}>Discard changes</button>
          <button class="primary" id="save" aria-disabled=${stops ? "true" : "false"}>${mode === "observe" ? "Save and observe" : "Save and enforce"}</button>
        </div>
      </div>
    </div>
  `;
}

/**
 * @param {{form: Form, present: string, mode: Api.Policy["mode"], name: string}} props
 */
function ModeChoice({ form, present, mode, name }) {
  return html`
    <label class="choice">
      <input type="radio" name="mode" value=${mode} checked=${form.draft.mode === mode} onChange=${() => edit((draft) => (draft.mode = mode))} />
      <span><strong>${name}</strong>${present === mode && " (current)"}</span>
    </label>
  `;
}

// NotYet says why an enforcing policy only observes.
/** @param {{state: State}} props */
function NotYet({ state }) {
  const why = whyIdle(state);
  if (!why) return null;
  const parts = why.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
  return html` <strong class="warn">${parts}</strong>`;
}

/** @param {{state: State}} props */
function LimitsNotes({ state }) {
  const { conflict, problem, made } = state.form;
  const canUndo = made && !isDirty(state.form);
  const unsaved = isUnsaved(state);
  return html`
    <div role="status">
      ${conflict && html`<${Conflict} form=${state.form} />`}
      ${problem && html`<p class="note bad">${problem}</p>`}
      ${unsaved && html`<p class="note warn unsaved"><span>${unsavedLimits(state.status?.database)}</span>${canUndo && html`<${Undo} form=${state.form} />`}</p>`}
      ${!unsaved && canUndo && html`
        <p class="note good">
          <span>Saved by <bdi>${made.revision.author}</bdi>, ${clock(Date.parse(made.revision.at))}. Applies from the next message on.</span>
          <${Undo} form=${state.form} />
        </p>`}
    </div>
  `;
}

/** @param {{form: Form}} props */
function Conflict({ form }) {
  const { author, theirs, problem } = form.conflict;
  const who = author ? html`<bdi>${author}</bdi>` : "Someone else";
  return html`
    <p class="note bad"><span>${who} changed these limits while you were editing.</span></p>
    ${problem && html`<p class="note bad">${problem}</p>`}
    ${theirs && html`
      <div class="sides">
        <div><h2>${who} changed</h2><${ChangeList} changes=${theirs} /></div>
        <div><h2>You changed</h2><${ChangeList} changes=${mine(form)} /></div>
      </div>`}
    <div class="buttons conflict">
      <button type="button" class="theirs" onClick=${load}>Use theirs</button>
      ${theirs
        ? html`<button type="button" class="both" onClick=${combine}>Combine both</button>`
        : html`<button type="button" class="compare" onClick=${compare}>Compare</button>`}
    </div>
  `;
}

/** @param {{form: Form}} props */
function Undo({ form }) {
  return html`<button type="button" aria-disabled=${form.busy ? "true" : "false"} onClick=${undo}>Undo</button>`;
}
