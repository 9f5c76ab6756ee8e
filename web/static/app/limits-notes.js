// What is said beside the buttons that save limits: whose change it is that came in between, what went wrong, what is in force, and whether that
// lasts.

import { html } from "../vendor/htm-preact.js";
import { ChangeList } from "./change-words.js";
import { combine, compare, mine } from "./conflict.js";
import { isDirty } from "./draft.js";
import { isUnsaved, load, undo } from "./policy.js";
import { clock } from "./time.js";

export function LimitsNotes({ state }) {
  const { conflict, problem, made } = state.form;
  const canUndo = made && !isDirty(state.form);
  const unsaved = isUnsaved(state);
  return html`
    <div role="status">
      ${conflict && html`<${Conflict} form=${state.form} />`}
      ${problem && html`<p class="note bad">${problem}</p>`}
      ${unsaved && html`<p class="note warn unsaved"><span>${unsavedText(state.status?.database)}</span>${canUndo && html`<${Undo} form=${state.form} />`}</p>`}
      ${!unsaved && canUndo && html`
        <p class="note good">
          <span>Saved by <bdi>${made.revision.author}</bdi>, ${clock(Date.parse(made.revision.at))}. The next message is judged by it.</span>
          <${Undo} form=${state.form} />
        </p>`}
    </div>
  `;
}

function Conflict({ form }) {
  const { author, theirs, problem } = form.conflict;
  const who = author ? html`<bdi>${author}</bdi>` : "Somebody else";
  return html`
    <p class="note bad"><span>${who} has changed these limits meanwhile.</span></p>
    ${problem && html`<p class="note bad">${problem}</p>`}
    ${theirs && html`
      <div class="sides">
        <div><h2>${who} changed</h2><${ChangeList} changes=${theirs} /></div>
        <div><h2>You changed</h2><${ChangeList} changes=${mine(form)} /></div>
      </div>`}
    <div class="buttons conflict">
      <button type="button" class="theirs" onClick=${load}>Take theirs, drop mine</button>
      ${theirs
        ? html`<button type="button" class="both" onClick=${combine}>Keep both, to save</button>`
        : html`<button type="button" class="compare" onClick=${compare}>See both</button>`}
    </div>
  `;
}

function Undo({ form }) {
  return html`<button type="button" aria-disabled=${form.busy ? "true" : "false"} onClick=${undo}>Undo</button>`;
}

function unsavedText(database) {
  if (database?.state === "off") return html`<strong>In force until chatguard stops.</strong> Nothing is kept: it was started without a database.`;
  const why = database?.detail ? ` (${database.detail})` : "";
  return html`
    <strong>In force, but not saved yet:</strong> the database is in trouble${why}.
    It will be saved when that is mended; until then a restart would undo it.
  `;
}
