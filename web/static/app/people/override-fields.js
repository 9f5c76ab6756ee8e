// @ts-check
// The form of a user's custom limits: exemption, time zone and numbers.

import { html } from "../../vendor/htm-preact.js";
import { edit, isOutdated, startOver } from "./form.js";
import { ownLimits } from "./override.js";
import { LimitField, Zones } from "../widgets/field.js";
import { algorithmOf, roleFields } from "../words/algorithms.js";
import { textsOf } from "../words/typed.js";
/** @import { ChangeForm } from "./form.js" */
/** @import { Person } from "./people.js" */
/** @import { Texts } from "../words/typed.js" */

const exemptions = {
  "by-role": ["By role", "Exempt roles apply, unless the user has custom limits."],
  always: ["Always exempt", "No limits apply."],
  never: ["Never exempt", "Limits apply in every role."],
};

/** @param {{person: Person, isBusy: boolean}} props */
export function OverrideFields({ person, isBusy }) {
  const { form, card } = person;
  const { exempt, until, zone, limits } = form.draft;
  return html`
    ${isOutdated(person) && html`
      <p class="note bad"><span>Someone else changed this while you were editing.</span> <button type="button" onClick=${startOver}>Load the current values</button></p>`}
    <fieldset disabled=${isBusy}>
      <legend>Exemption</legend>
      ${Object.entries(exemptions).map(([value, [name, about]]) => html`
        <label class="choice">
          <input type="radio" name="exempt" value=${value} checked=${value === exempt} onChange=${() => edit({ exempt: value })} />
          <span>${name} <span class="muted">${about}</span></span>
        </label>
      `)}
      ${exempt !== "by-role" && html`
        <div class="field">
          <label for="exempt-until">Until (your time zone). Leave empty for no end.</label>
          <input id="exempt-until" type="datetime-local" value=${until} onInput=${(event) => edit({ until: event.target.value })} />
        </div>`}
    </fieldset>
    <div class="fields">
      <${LimitField} id="own-zone" label="Time zone" unit="" hint="same as the channel" list="zones" value=${zone} fixed=${isBusy} error=${form.errors.zone}
        onInput=${(text) => edit({ zone: text })} />
      <${Zones} />
    </div>
    <p class="muted">A new time zone applies after the user’s current day ends.</p>
    ${ownLimits(card).map((limit) => html`<${OwnNumbers} key=${limit.name} limit=${limit} form=${form} isBusy=${isBusy} texts=${limits[limit.name] ?? {}} role=${card.role_numbers[limit.name] ?? {}} />`)}
  `;
}

// OwnNumbers shows the numbers of the user's role as placeholders in empty fields.
/** @param {{limit: Api.LimitStatus, form: ChangeForm, isBusy: boolean, texts: Texts, role: Api.Override}} props */
function OwnNumbers({ limit, form, isBusy, texts, role }) {
  const { name } = limit;
  const fields = roleFields(limit);
  const hints = textsOf(fields, role);
  /** @param {string} field @param {string} text */
  const write = (field, text) => edit({ limits: { ...form.draft.limits, [name]: { ...texts, [field]: text } } });
  return html`
    <fieldset>
      <legend><bdi>${name}</bdi> <span class="kind">${algorithmOf(limit).name}</span></legend>
      <div class="fields">
        ${Object.entries(fields).map(([field, { label, unit, isLength }]) => html`
          <${LimitField} key=${field} id=${`own-${field}-${name}`} label=${label} unit=${unit} isLength=${isLength} hint=${hints[field]} value=${texts[field] ?? ""} fixed=${isBusy}
            error=${form.errors[`${field}-${name}`]} onInput=${(text) => write(field, text)} />
        `)}
      </div>
    </fieldset>
  `;
}
