// One number or text of the limits: label, field, unit, and what is wrong with it.

import { html } from "../vendor/htm-preact.js";

// LimitField has its label above the field; with isShort only a screen reader reads that. hint stands in an empty field, list is the ID of what it offers.
export function LimitField({ id, label, unit, value, fixed, error, hint, isShort, isText, list, onInput }) {
  return html`
    <div class="field">
      <label for=${id} class=${isShort ? "unseen" : ""}>${label}</label>
      <div class="together">
        <input id=${id} inputmode=${isText ? null : "decimal"} autocomplete="off" value=${value} readonly=${fixed} placeholder=${hint} list=${list}
          onInput=${(event) => onInput(event.target.value)} aria-invalid=${error ? "true" : "false"} aria-describedby=${`${id}-unit ${id}-error`} />
        <span id=${`${id}-unit`} class="unit">${unit}</span>
      </div>
      <p id=${`${id}-error`} class="error" aria-live="polite">${error}</p>
    </div>
  `;
}

// Tick is a yes or no in words.
export function Tick({ id, checked, fixed, onChange, children }) {
  return html`
    <label class="choice">
      <input id=${id} type="checkbox" checked=${checked} disabled=${fixed} onChange=${(event) => onChange(event.target.checked)} />
      <span>${children}</span>
    </label>
  `;
}
