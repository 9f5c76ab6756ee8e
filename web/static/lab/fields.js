// @ts-check
// The numbers of a limit: a field and a slider for each parameter that the engine lists. A choice
// of names has a select.

import { t } from "../text/text.js";
import { html, useState } from "../vendor/htm-preact.js";
import { TextTicks } from "../app/limits/text-ticks.js";
import { Choice } from "../app/widgets/field.js";
import { algorithmOf, fieldsOf, periodNames, scopesOf, switchesOf } from "../app/words/algorithms.js";
import { durationText, lengthText, nanoseconds, parseLength } from "../app/words/lengths.js";
import { sharers } from "../app/words/scopes.js";
import { length, weekdayName } from "../app/words/time.js";
import { withScope } from "./limits.js";
/** @import { Field } from "../app/words/algorithms.js" */
/** @import { Limit, Wrong } from "./state.js" */

const counts = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 500, 600, 800, 1000, 2000, 5000, 10_000];
const lengths = [0.001, 0.01, 0.1, 0.2, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400]; // s

// stops returns the values of a field's slider.
/** @param {Field} field */
export const stops = ({ isLength, least, most }) => (isLength ? lengths : counts).filter((value) => value >= least && value <= most);

// closest returns the index of the stop nearest to a value.
/** @param {number[]} values @param {number} value */
export const closest = (values, value) => values.reduce((best, one, i) => (Math.abs(one - value) < Math.abs(values[best] - value) ? i : best), 0);

// readField reads the text of a field: a number, or a duration as the API writes it. If the text is
// wrong, it returns an error instead.
/** @param {Field} field @param {string} text @returns {{value?: number | string, error?: string}} */
export function readField({ isLength, least, most }, text) {
  if (isLength) {
    const ns = parseLength(text);
    if (ns === null) return { error: t("lab.enter-duration") };
    const time = Number(ns) / 1e9;
    return time >= least && time <= most ? { value: durationText(ns) } : { error: t("lab.enter-between", { least: length(least), most: length(most) }) };
  }
  const number = Number(text);
  return /^\d+$/.test(text.trim()) && number >= least && number <= most ? { value: number } : { error: t("lab.enter-count", { least, most }) };
}

// LimitFields shows the numbers of a limit. onChange gets the changed limit.
/** @param {{id: string, limit: Limit, wrong: Wrong | null, onChange: (limit: Limit) => void}} props */
export function LimitFields({ id, limit, wrong, onChange }) {
  const { choices } = algorithmOf(limit), fields = fieldsOf(limit), per = limit.per ?? "user";
  const switches = switchesOf(limit).filter((name) => name !== "strikes"); // there are no strikes here
  /** @type {Record<string, any>} */
  const values = limit;
  return html`
    <div>
      <div class="lab-fields">
        <${Choice} id=${`${id}-per`} label=${t("limits.scope")} value=${per} options=${named([...new Set([...scopesOf(limit), per])], (name) => sharers[name])}
          onChoose=${(/** @type {string} */ chosen) => onChange(withScope(limit, chosen))} />
        ${Object.entries(fields).map(([name, field]) => html`
          <${NumberField} key=${`${limit.algorithm} ${name}`} id=${`${id}-${name}`} field=${field} value=${values[name]} refused=${wrong?.id === `${id}-${name}` ? wrong.problem : ""} onChange=${(/** @type {any} */ value) => onChange({ ...limit, [name]: value })} />`)}
        ${choices.period && html`
          <${Choice} id=${`${id}-period`} label=${t("lab.period")} value=${limit.period || "day"} options=${named(choices.period, (name) => periodNames[name])}
            onChoose=${(/** @type {string} */ period) => onChange(withPeriod(limit, period))} />
          ${limit.period === "week" && html`<${Choice} id=${`${id}-first_day`} label=${t("lab.first-day")} value=${limit.first_day || "monday"} options=${named(choices.first_day, weekdayName)}
            onChoose=${(/** @type {string} */ day) => onChange(/** @type {Limit} */ ({ ...limit, first_day: day }))} />`}
        `}
      </div>
      ${switches.length > 0 && html`<div class="choices"><${TextTicks} names=${switches} values=${values} idOf=${(/** @type {string} */ name) => `${id}-${name}`} onTick=${(/** @type {string} */ name, /** @type {boolean} */ is) => onChange({ ...limit, [name]: is })} /></div>`}
    </div>
  `;
}

// withPeriod returns the limit with another period. Only a week has a first day, and a day is the
// default.
/** @param {Limit} limit @param {string} period @returns {Limit} */
export function withPeriod({ period: _, first_day: day, ...rest }, period) {
  return /** @type {Limit} */ ({ ...rest, ...(period !== "day" && { period }), ...(period === "week" && day && { first_day: day }) });
}

/** @param {string[]} values @param {(value: string) => string} nameOf */
const named = (values, nameOf) => Object.fromEntries(values.map((value) => [value, nameOf(value)]));

/** @param {Field} field @param {number | string | undefined} value */
const textOf = ({ isLength, usual }, value) => (isLength ? (value ? lengthText(nanoseconds(String(value))) : "") : String(value ?? usual ?? 0));

/** @param {{id: string, field: Field, value: number | string | undefined, refused: string, onChange: (value: number | string) => void}} props */
function NumberField({ id, field, value, refused, onChange }) {
  const [typed, type] = useState(/** @type {string | null} */ (null)); // while it is typed
  const text = typed ?? textOf(field, value);
  const { error: mistyped = "" } = typed === null ? {} : readField(field, typed);
  const error = mistyped || refused;
  const values = stops(field), current = field.isLength ? Number(nanoseconds(String(value ?? ""))) / 1e9 : Number(value ?? field.usual ?? 0);
  /** @param {string} text */
  const input = (text) => {
    type(text);
    const { value } = readField(field, text);
    if (value !== undefined) onChange(value);
  };
  /** @param {number} i */
  const slide = (i) => {
    type(null);
    onChange(field.isLength ? durationText(BigInt(Math.round(values[i] * 1e9))) : values[i]);
  };
  return html`
    <div class="lab-field">
      <label for=${id}>${field.label}</label>
      <div class="together">
        <input id=${id} autocomplete="off" inputmode=${field.isLength ? null : "numeric"} value=${text} onInput=${(event) => input(event.target.value)} onBlur=${() => !mistyped && type(null)}
          aria-invalid=${error ? "true" : "false"} aria-describedby=${`${id}-unit ${id}-error`} />
        <span class="muted" id=${`${id}-unit`}>${field.unit}</span>
      </div>
      <input type="range" aria-label=${t("lab.slider", { field: field.label })} min="0" max=${values.length - 1} step="1" value=${closest(values, current)} aria-valuetext=${text} onInput=${(event) => slide(Number(event.target.value))} />
      <p class="error" id=${`${id}-error`} aria-live="polite">${error}</p>
    </div>
  `;
}
