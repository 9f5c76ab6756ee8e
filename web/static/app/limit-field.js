// One number of a limit: label, field, unit, and what is wrong with it.

import { html } from "../vendor/htm-preact.js";

export function LimitField({ id, label, unit, value, fixed, error, onInput }) {
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <div class="together">
        <input id=${id} inputmode="decimal" autocomplete="off" value=${value} readonly=${fixed} onInput=${(event) => onInput(event.target.value)}
          aria-invalid=${error ? "true" : "false"} aria-describedby=${`${id}-unit ${id}-error`} />
        <span id=${`${id}-unit`} class="unit">${unit}</span>
      </div>
      <p id=${`${id}-error`} class="error" aria-live="polite">${error}</p>
    </div>
  `;
}
