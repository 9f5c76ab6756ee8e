// @ts-check
// One number, duration or text in a form: label, field, unit and error.

import { html } from "../../vendor/htm-preact.js";
import { lengthText, parseLength } from "../words/lengths.js";
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
 * @property {boolean} [isLength] a duration, typed with its unit
 * @property {string} [zero] what a duration of 0 means
 * @property {string} [list] the ID of the datalist with suggestions
 * @property {(text: string) => void} onInput
 */

// LimitField shows its label above the field. A duration is rewritten in words when the field loses
// the focus; until then, the words are below the field.
/** @param {FieldProps} props */
export function LimitField({ id, label, unit, value, fixed, error, hint, isShort, isText, isLength, zero, list, onInput }) {
  /** @param {{target: HTMLInputElement}} event */
  const tidy = ({ target }) => !fixed && isLength && inWords(target.value) !== "" && onInput(inWords(target.value));
  const note = isLength && !error ? meaningOf(value, zero) : "";
  return html`
    <div class="field ${isLength ? "length" : ""}">
      <label for=${id} class=${isShort ? "unseen" : ""}>${label}</label>
      <div class="together">
        <input id=${id} inputmode=${isText || isLength ? null : "decimal"} autocomplete="off" value=${value} readonly=${fixed} placeholder=${hint} list=${list}
          onInput=${(event) => onInput(event.target.value)} onBlur=${tidy} aria-invalid=${error ? "true" : "false"} aria-describedby=${`${id}-unit ${id}-error`} />
        <span id=${`${id}-unit`} class="unit">${unit}${note && html`<span class="typed">${note}</span>`}</span>
      </div>
      <p id=${`${id}-error`} class="error" aria-live="polite">${error}</p>
    </div>
  `;
}

// inWords writes a typed duration in words, or nothing if it is in words already or can't be read.
/** @param {string} value */
function inWords(value) {
  const ns = parseLength(value);
  return ns === null || lengthText(ns) === value ? "" : lengthText(ns);
}

/** @param {string} value @param {string} [zero] */
function meaningOf(value, zero) {
  const words = parseLength(value) === 0n && zero ? zero : inWords(value);
  return words && `= ${words}`;
}

// Choice is one of several options, by their values.
/**
 * @param {{id: string, label: string, value: string, options: Record<string, string>, fixed?: boolean, onChoose: (value: string) => void}} props
 */
export function Choice({ id, label, value, options, fixed, onChoose }) {
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <select id=${id} value=${value} disabled=${fixed} onChange=${(event) => onChoose(event.target.value)}>
        ${Object.entries(options).map(([option, name]) => html`<option value=${option} selected=${option === value}>${name}</option>`)}
      </select>
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

let zones; // made once: there are more than 400

// Zones are the suggestions of a field for a time zone, whose list is "zones".
export const Zones = () => (zones ??= html`<datalist id="zones">${Intl.supportedValuesOf("timeZone").map((zone) => html`<option value=${zone} />`)}</datalist>`);
