// @ts-check
// One limit in words and numbers. A limit that counts across all channels is read-only.

import { html } from "../../vendor/htm-preact.js";
import { configured } from "../core/state.js";
import { keepLimit, removeLimit, setField, setText } from "./draft-edits.js";
import { isFixed } from "./draft.js";
import { LimitOverrides } from "./overrides.js";
import { LimitRoles } from "./role-rows.js";
import { LimitField, Tick } from "../widgets/field.js";
import { algorithmOf } from "../words/algorithms.js";
import { length } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

/** @type {Record<string, string>} */
const sharers = { user: "per user", "user-everywhere": "per user, across all channels", channel: "shared by everyone in the channel" };

// LimitCard shows the draft of a limit. mayEdit is false if nothing can be changed now.
/**
 * @param {{limit: DraftLimit, index: number, form: Form, mayEdit: boolean, overrides: State["overrides"]}} props
 */
export function LimitCard({ limit, index, form, mayEdit, overrides }) {
  if (limit.isRemoved) return html`<${Removed} limit=${limit} index=${index} />`;
  const fixed = !mayEdit || isFixed(limit.source);
  const { name } = algorithmOf(limit.source);
  return html`
    <fieldset class="limit ${fixed ? "fixed" : ""}">
      <legend><bdi>${limit.name || "New limit"}</bdi> <span class="kind">${name}, ${sharers[limit.per]}</span></legend>
      ${!fixed && html`
        <button type="button" class="quiet remove" id=${`remove-${index}`} aria-label=${`Remove the limit ${limit.name}`} onClick=${() => removeLimit(index)}>
          Remove
        </button>`}
      ${limit.isNew && html`<${NewLimit} limit=${limit} index=${index} form=${form} fixed=${fixed} />`}
      <${Numbers} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      ${!fixed && html`<${Choices} limit=${limit} index=${index} />`}
      <${Notes} limit=${limit} fixed=${fixed} />
      <${LimitRoles} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      <${LimitOverrides} name=${limit.source.name} fields=${algorithmOf(limit.source).fields} overrides=${overrides} />
    </fieldset>
  `;
}

/** @param {{limit: DraftLimit, index: number}} props */
function Removed({ limit, index }) {
  return html`
    <div class="limit removed">
      <p>Saving removes <bdi>${limit.name}</bdi> and clears everyone’s usage of it.</p>
      <button type="button" id=${`keep-${index}`} onClick=${() => keepLimit(index)}>Keep</button>
    </div>
  `;
}

/** @param {{limit: DraftLimit, index: number, form: Form, fixed: boolean}} props */
function NewLimit({ limit, index, form, fixed }) {
  const id = `name-${index}`;
  return html`
    <p class="muted">${algorithmOf(limit.source).about}</p>
    <div class="fields">
      <${LimitField} id=${id} label="Name" value=${limit.name} fixed=${fixed} error=${form.errors[id]} isText onInput=${(text) => setField(index, "name", text)} />
      <div class="field">
        <label for=${`per-${index}`}>Scope</label>
        <select id=${`per-${index}`} value=${limit.per} onChange=${(event) => setField(index, "per", event.target.value)}>
          ${["user", "channel"].map((per) => html`<option value=${per} selected=${per === limit.per}>${sharers[per]}</option>`)}
        </select>
      </div>
    </div>
  `;
}

/** @param {{limit: DraftLimit, index: number, form: Form, fixed: boolean}} props */
function Numbers({ limit, index, form, fixed }) {
  const { source, texts } = limit;
  const { fields, meaning } = algorithmOf(source);
  /** @param {string} field */
  const error = (field) => form.errors[`${field}-${index}`];
  const numbers = Object.fromEntries(Object.keys(fields).map((field) => [field, error(field) ? NaN : Number(texts[field])]));
  const isDaily = source.algorithm === "daily-window";
  const stated = { ...source, reset_at: limit.resetAt.trim(), timezone: limit.timezone.trim() };
  const isClear = !Object.values(numbers).some(Number.isNaN) && !error("reset_at") && !error("timezone");
  return html`
    <div class="fields">
      ${Object.entries(fields).map(([field, { label, unit, isLength }]) => html`
        <${LimitField} key=${field} id=${`${field}-${index}`} label=${label} unit=${unit + (isLength ? inWords(numbers[field]) : "")}
          value=${texts[field]} fixed=${fixed} error=${error(field)} onInput=${(text) => setText(index, field, text)} />
      `)}
      ${isDaily && html`
        <${LimitField} id=${`reset_at-${index}`} label="Day ends at" value=${limit.resetAt} fixed=${fixed} error=${error("reset_at")} hint="00:00" isText
          onInput=${(text) => setField(index, "resetAt", text)} />
        <${LimitField} id=${`timezone-${index}`} label="Time zone" value=${limit.timezone} fixed=${fixed} error=${error("timezone")}
          hint=${form.draft.timezone || "UTC"} isText list="zones" onInput=${(text) => setField(index, "timezone", text)} />
      `}
    </div>
    ${isClear && html`<p class="muted">${meaning(numbers, stated, form.draft.timezone)}</p>`}
  `;
}

// inWords writes a long duration in words. The result follows the number of seconds.
/** @param {number} time */
export function inWords(time) {
  return time >= 60 ? ` = ${length(time)}` : "";
}

/** @param {{limit: DraftLimit, index: number}} props */
function Choices({ limit, index }) {
  return html`
    <div class="choices">
      <${Tick} id=${`observes-${index}`} checked=${limit.observes} onChange=${(is) => setField(index, "observes", is)}>
        Observe only: report, throttle nobody
      <//>
      <${Tick} id=${`counts-${index}`} checked=${limit.countsThrottled} onChange=${(is) => setField(index, "countsThrottled", is)}>
        Throttled messages also count
      <//>
    </div>
  `;
}

// Notes shows what the fields of the limit don't show.
/** @param {{limit: DraftLimit, fixed: boolean}} props */
function Notes({ limit, fixed }) {
  const notes = [
    fixed && limit.observes && "Observe only: reports messages over the limit, but throttles nobody.",
    fixed && limit.countsThrottled && "Throttled messages also count.",
    limit.per === "channel" && "Messages over this limit are removed without a strike.",
    isFixed(limit.source) && `Applies across all channels. Change it in the ${configured().name}.`,
  ];
  return notes.filter(Boolean).map((note) => html`<p class="muted">${note}</p>`);
}
