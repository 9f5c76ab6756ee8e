// What a user has of their own, to be edited: an exemption, a zone, and other numbers in the limits.

import { html } from "../vendor/htm-preact.js";
import { algorithmOf, roleFields } from "./algorithms.js";
import { textsOf } from "./draft.js";
import { LimitField } from "./limit-field.js";
import { ownLimits } from "./override.js";
import { edit, isOutdated, startOver } from "./user-changes.js";
import { Zones } from "./zones.js";

const exemptions = {
  "by-role": ["As their role", "Who has numbers of their own is judged by them."],
  always: ["Always exempt", "No limits for them."],
  never: ["Never exempt", "Judged, whatever their role."],
};

export function OverrideFields({ person }) {
  const { form, card } = person;
  const { exempt, until, zone, limits } = form.draft;
  return html`
    ${isOutdated(person) && html`
      <p class="note bad"><span>Somebody has changed this meanwhile.</span> <button type="button" onClick=${startOver}>Load what holds now</button></p>`}
    <fieldset disabled=${form.busy}>
      <legend>Exemption</legend>
      ${Object.entries(exemptions).map(([value, [name, about]]) => html`
        <label class="choice">
          <input type="radio" name="exempt" value=${value} checked=${value === exempt} onChange=${() => edit({ exempt: value })} />
          <span>${name} <span class="muted">${about}</span></span>
        </label>
      `)}
      ${exempt !== "by-role" && html`
        <div class="field">
          <label for="exempt-until">Until, in your own zone; empty: until somebody changes it</label>
          <input id="exempt-until" type="datetime-local" value=${until} onInput=${(event) => edit({ until: event.target.value })} />
        </div>`}
    </fieldset>
    <div class="fields">
      <${LimitField} id="own-zone" label="Zone of their day" unit="" hint="as the channel’s" list="zones" value=${zone} fixed=${form.busy} error=${form.errors.zone}
        onInput=${(text) => edit({ zone: text })} />
      <${Zones} />
    </div>
    <p class="muted">Another zone holds from the end of their present day on, so that it gives no messages away.</p>
    ${ownLimits(card).map((limit) => html`<${OwnNumbers} key=${limit.name} limit=${limit} form=${form} texts=${limits[limit.name] ?? {}} role=${card.role_numbers[limit.name] ?? {}} />`)}
  `;
}

// OwnNumbers has in its empty fields what counts without them: the numbers of the user's role.
function OwnNumbers({ limit, form, texts, role }) {
  const { name } = limit;
  const fields = roleFields(limit);
  const hints = textsOf(fields, role);
  const write = (field, text) => edit({ limits: { ...form.draft.limits, [name]: { ...texts, [field]: text } } });
  return html`
    <fieldset>
      <legend><bdi>${name}</bdi> <span class="kind">${algorithmOf(limit).name}</span></legend>
      <div class="fields">
        ${Object.entries(fields).map(([field, { label, unit }]) => html`
          <${LimitField} key=${field} id=${`own-${field}-${name}`} label=${label} unit=${unit} hint=${hints[field]} value=${texts[field] ?? ""} fixed=${form.busy}
            error=${form.errors[`${field}-${name}`]} onInput=${(text) => write(field, text)} />
        `)}
      </div>
    </fieldset>
  `;
}
