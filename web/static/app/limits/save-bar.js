// @ts-check
// The bar to save the limits: the mode, the buttons, and notes on conflicts, problems and saving.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { combine, compare, mine } from "./conflict.js";
import { isDirty } from "./draft.js";
import { discard, edit, isUnsaved, load, undo } from "./form.js";
import { useBottomBar } from "../widgets/bottom-bar.js";
import { authorName } from "../words/author.js";
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
  const bar = useBottomBar();
  return html`
    <div class="finish" ref=${bar}>
      <${LimitsNotes} state=${state} />
      <div class="save-row">
        <fieldset class="mode" disabled=${form.busy}>
          <legend class="unseen">${t("limits.mode")}</legend>
          <${ModeChoice} form=${form} present=${present} mode="observe" name=${t("limits.mode-observe")} />
          <${ModeChoice} form=${form} present=${present} mode="enforce" name=${t("limits.mode-enforce")} />
        </fieldset>
        <p class="effect muted">${mode === "observe" ? t("limits.effect-observe") : html`${t("limits.effect-enforce")}<${NotYet} state=${state} />`}</p>
        <div class="buttons">
          ${wrong > 0 && html`<span class="bad">${t("limits.fix-fields", { n: wrong })}</span>`}
          <button type="button" class="discard" aria-disabled=${!dirty || form.busy ? "true" : "false"} onClick=${discard}>${t("limits.discard")}</button>
          <button class="primary" id="save" aria-disabled=${stops ? "true" : "false"}>${t(mode === "observe" ? "limits.save-observe" : "limits.save-enforce")}</button>
        </div>
      </div>
    </div>
  `;
}

/**
 * @param {{form: Form, present: string, mode: Api.Policy["mode"], name: string}} props
 */
function ModeChoice({ form, present, mode, name }) {
  const choice = html`<strong>${name}</strong>`;
  return html`
    <label class="choice">
      <input type="radio" name="mode" value=${mode} checked=${form.draft.mode === mode} onChange=${() => edit((draft) => (draft.mode = mode))} />
      <span>${present === mode ? rich("limits.mode-current", { mode: choice }) : choice}</span>
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
          <span>${rich("limits.saved", { who: html`<bdi>${authorName(made.revision.author)}</bdi>`, time: clock(Date.parse(made.revision.at)) })}</span>
          <${Undo} form=${state.form} />
        </p>`}
    </div>
  `;
}

/** @param {{form: Form}} props */
function Conflict({ form }) {
  const { author, theirs, problem } = form.conflict;
  const who = author && html`<bdi>${authorName(author)}</bdi>`;
  return html`
    <p class="note bad"><span>${who ? rich("limits.meanwhile", { who }) : t("limits.meanwhile-somebody")}</span></p>
    ${problem && html`<p class="note bad">${problem}</p>`}
    ${theirs && html`
      <div class="sides">
        <div><h2>${who ? rich("limits.theirs", { who }) : t("limits.theirs-somebody")}</h2><${ChangeList} changes=${theirs} /></div>
        <div><h2>${t("limits.mine")}</h2><${ChangeList} changes=${mine(form)} /></div>
      </div>`}
    <div class="buttons conflict">
      <button type="button" class="theirs" onClick=${load}>${t("limits.use-theirs")}</button>
      ${theirs
        ? html`<button type="button" class="both" onClick=${combine}>${t("limits.combine")}</button>`
        : html`<button type="button" class="compare" onClick=${compare}>${t("limits.compare")}</button>`}
    </div>
  `;
}

/** @param {{form: Form}} props */
function Undo({ form }) {
  return html`<button type="button" aria-disabled=${form.busy ? "true" : "false"} onClick=${undo}>${t("limits.undo")}</button>`;
}
