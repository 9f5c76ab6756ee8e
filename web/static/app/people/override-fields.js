// @ts-check
// The form of a user's custom limits: exemption, time zone and numbers.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { edit, isOutdated, startOver } from "./form.js";
import { ownLimits } from "./override.js";
import { LimitField, Zones } from "../widgets/field.js";
import { algorithmOf, roleFields } from "../words/algorithms.js";
import { textsOf } from "../words/typed.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { ChangeForm } from "./form.js" */
/** @import { Person } from "./people.js" */
/** @import { Texts } from "../words/typed.js" */

/** @type {Record<string, [name: TextKey, about: TextKey]>} */
const exemptions = {
  "by-role": ["people.exempt-by-role", "people.exempt-by-role-about"],
  always: ["people.exempt-always", "people.exempt-always-about"],
  never: ["people.exempt-never", "people.exempt-never-about"],
};

/** @param {{person: Person, isBusy: boolean}} props */
export function OverrideFields({ person, isBusy }) {
  const { form, card } = person;
  const { exempt, until, zone, limits } = form.draft;
  return html`
    ${isOutdated(person) && html`
      <p class="note bad"><span>${t("people.outdated")}</span> <button type="button" onClick=${startOver}>${t("people.load-current")}</button></p>`}
    <fieldset disabled=${isBusy}>
      <legend>${t("people.exemption")}</legend>
      ${Object.entries(exemptions).map(([value, [name, about]]) => html`
        <label class="choice">
          <input type="radio" name="exempt" value=${value} checked=${value === exempt} onChange=${() => edit({ exempt: value })} />
          <span>${t(name)} <span class="muted">${t(about)}</span></span>
        </label>
      `)}
      ${exempt !== "by-role" && html`
        <div class="field">
          <label for="exempt-until">${t("people.until")}</label>
          <input id="exempt-until" type="datetime-local" value=${until} onInput=${(event) => edit({ until: event.target.value })} />
        </div>`}
    </fieldset>
    <div class="fields">
      <${LimitField} id="own-zone" label=${t("people.zone")} unit="" hint=${t("people.zone-hint")} list="zones" value=${zone} fixed=${isBusy} error=${form.errors.zone}
        onInput=${(text) => edit({ zone: text })} />
      <${Zones} />
    </div>
    <p class="muted">${t("people.zone-about")}</p>
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
