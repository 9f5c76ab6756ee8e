// @ts-check
// One number or text in a form: label, field, unit and error.

import { html } from "../../vendor/htm-preact.js";
/** @import { View } from "../../vendor/htm-preact.js" */

/**
 * @typedef {object} FieldProps
 * @property {string} id
 * @property {string} label
 * @property {string} [unit]
 * @property {string} value
 * @property {boolean} [fixed]
 * @property {string} [error]
 * @property {string} [hint] the placeholder of an empty field
 * @property {boolean} [isShort] the label is for screen readers only
 * @property {boolean} [isText]
 * @property {string} [list] the ID of the datalist with suggestions
 * @property {(text: string) => void} onInput
 */

// LimitField shows its label above the field.
/** @param {FieldProps} props */
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

// Tick is a checkbox.
/**
 * @param {{id: string, checked: boolean, fixed?: boolean, onChange: (is: boolean) => void, children: View}} props
 */
export function Tick({ id, checked, fixed, onChange, children }) {
  return html`
    <label class="choice">
      <input id=${id} type="checkbox" checked=${checked} disabled=${fixed} onChange=${(event) => onChange(event.target.checked)} />
      <span>${children}</span>
    </label>
  `;
}

export const Zones = () => html`<datalist id="zones">${Intl.supportedValuesOf("timeZone").map((zone) => html`<option value=${zone} />`)}</datalist>`;
