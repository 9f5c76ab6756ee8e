// @ts-check
// The numbers of a limit, as chatguard lists them for its algorithm, and their effect in words.

import { t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { setField, setText } from "./draft-edits.js";
import { fieldsIn } from "./draft.js";
import { isClear } from "./rule.js";
import { Choice, LimitField } from "../widgets/field.js";
import { algorithmOf, periodNames } from "../words/algorithms.js";
import { weekdayName } from "../words/time.js";
import { numbersIn } from "../words/typed.js";
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */
/** @import { Field } from "../words/algorithms.js" */

/** @typedef {{limit: DraftLimit, index: number, form: Form, fixed: boolean}} CardProps */

/** @param {CardProps} props */
export function Numbers({ limit, index, form, fixed }) {
  const { source, texts } = limit;
  const { choices, hasDay, meaning } = algorithmOf(source), fields = fieldsIn(limit);
  const effect = isClear(limit, index, form) && meaning(numbersIn(fields, texts), source, form.draft.timezone);
  const error = (/** @type {string} */ field) => form.errors[`${field}-${index}`];
  return html`
    <div class="fields">
      ${Object.entries(fields).filter(([, { isRare }]) => !isRare).map(([name, field]) => html`<${NumberField} key=${name} name=${name} field=${field} limit=${limit} index=${index} form=${form} fixed=${fixed} />`)}
      ${hasDay && html`
        <${LimitField} id=${`reset_at-${index}`} label=${t("limits.period-ends")} value=${limit.resetAt} fixed=${fixed || form.busy} error=${error("reset_at")} hint="00:00" isText
          onInput=${(text) => setField(index, "resetAt", text)} />
        <${LimitField} id=${`timezone-${index}`} label=${t("limits.zone")} value=${limit.timezone} fixed=${fixed || form.busy} error=${error("timezone")}
          hint=${form.draft.timezone || "UTC"} isText list="zones" onInput=${(text) => setField(index, "timezone", text)} />
        <${Choice} id=${`period-${index}`} label=${t("limits.period")} value=${limit.period || "day"} fixed=${fixed} options=${options(choices.period, (name) => periodNames[name])}
          onChoose=${(/** @type {string} */ name) => setField(index, "period", name === "day" ? "" : name)} />
        ${limit.period === "week" && html`<${Choice} id=${`first_day-${index}`} label=${t("limits.first-day")} value=${limit.firstDay || "monday"} fixed=${fixed} options=${options(choices.first_day, weekdayName)}
          onChoose=${(/** @type {string} */ name) => setField(index, "firstDay", name === "monday" ? "" : name)} />`}
      `}
    </div>
    ${effect && html`<p class="muted">${effect}</p>`}
    ${fields.from_length && !error("from_length") && html`<p class="muted">${fields.from_length.about}</p>`}
    <${RareNumbers} limit=${limit} index=${index} form=${form} fixed=${fixed} />
  `;
}

/** @param {string[]} values @param {(value: string) => string} nameOf */
const options = (values = [], nameOf) => Object.fromEntries(values.map((value) => [value, nameOf(value)]));

/** @param {CardProps & {name: string, field: Field}} props */
function NumberField({ name, field: { label, unit, isLength }, limit, index, form, fixed }) {
  return html`
    <${LimitField} id=${`${name}-${index}`} label=${label} unit=${unit} isLength=${isLength} value=${limit.texts[name]} fixed=${fixed || form.busy} error=${form.errors[`${name}-${index}`]}
      onInput=${(/** @type {string} */ text) => setText(index, name, text)} />
  `;
}

// RareNumbers shows numbers that most limits do without. They are folded away while they have no
// effect.
/** @param {CardProps} props */
function RareNumbers({ limit, index, form, fixed }) {
  const rare = Object.entries(algorithmOf(limit.source).fields).filter(([, { isRare }]) => isRare);
  const isUsed = rare.some(([name, { least }]) => limit.texts[name] !== String(least));
  const [isOpen, setOpen] = useState(false); // it stays open while somebody types
  if (rare.length === 0 || (fixed && !isUsed)) return null;
  return html`
    <details class="kind rare" open=${isOpen || isUsed} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>${t("limits.more-numbers")}</summary>
      <div class="fields">
        ${rare.map(([name, field]) => html`<${NumberField} key=${name} name=${name} field=${field} limit=${limit} index=${index} form=${form} fixed=${fixed} />`)}
      </div>
      ${rare.map(([, { about }]) => about && html`<p class="muted">${about}</p>`)}
    </details>
  `;
}
