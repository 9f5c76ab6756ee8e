// What is said beside the buttons that save limits: whose change it is that came in between, what went wrong, what is in force, and whether that
// lasts.

import { html } from "../vendor/htm-preact.js";
import { isDirty, isUnsaved, load, undo } from "./policy.js";
import { clock } from "./time.js";

export function LimitsNotes({ state }) {
  const { conflict, problem, made } = state.form;
  const canUndo = made && !isDirty(state.form);
  const unsaved = isUnsaved(state);
  return html`
    <div role="status">
      ${conflict && html`<${Conflict} conflict=${conflict} />`}
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

function Conflict({ conflict }) {
  return html`
    <p class="note bad">
      <span>
        ${conflict.author ? html`<bdi>${conflict.author}</bdi>` : "Somebody else"} has changed these limits meanwhile.
        Load them, then make your change again.
      </span>
      <button type="button" onClick=${load}>Load the new limits</button>
    </p>
  `;
}

function Undo({ form }) {
  return html`<button type="button" disabled=${form.busy} onClick=${undo}>Undo</button>`;
}

function unsavedText(database) {
  if (database?.state === "off") return html`<strong>In force until chatguard stops.</strong> Nothing is kept: it was started without a database.`;
  const why = database?.detail ? ` (${database.detail})` : "";
  return html`
    <strong>In force, but not saved yet:</strong> the database is in trouble${why}.
    It will be saved when that is mended; until then a restart would undo it.
  `;
}
