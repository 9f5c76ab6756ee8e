// @ts-check
// Roles with custom numbers in a limit, one row each.

import { html } from "../../vendor/htm-preact.js";
import { addRole, removeRole, setRoleText } from "./draft-edits.js";
import { LimitField } from "../widgets/field.js";
import { roleFields } from "../words/algorithms.js";
import { roleName, roles } from "../words/roles.js";
/** @import { DraftLimit, DraftRole } from "./draft.js" */
/** @import { Form } from "./form.js" */

/** @param {{limit: DraftLimit, index: number, form: Form, fixed: boolean}} props */
export function LimitRoles({ limit, index, form, fixed }) {
  const left = roles.filter((role) => !limit.roles.some((row) => row.role === role));
  const isEmpty = limit.roles.length === 0;
  if (isEmpty && fixed) return null;
  return html`
    <div class="roles" role="group" aria-label=${`Custom numbers for roles in ${limit.name}`}>
      ${limit.roles.map((row, place) => html`
        <${Role} key=${row.role} row=${row} place=${place} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      `)}
      ${!fixed && left.length > 0 && html`
        <label class="unseen" for=${`role-${index}`}>Add custom numbers for a role in ${limit.name}</label>
        <select id=${`role-${index}`} class="quiet" value="" onChange=${(event) => pick(event.target, index)}>
          <option value="">Custom numbers for a role…</option>
          ${left.map((role) => html`<option value=${role}>${roleName(role)}</option>`)}
        </select>
      `}
    </div>
  `;
}

/** @param {HTMLSelectElement} select @param {number} index */
function pick(select, index) {
  const role = select.value;
  select.value = "";
  if (role) addRole(index, role);
}

/**
 * @param {{row: DraftRole, place: number, limit: DraftLimit, index: number, form: Form, fixed: boolean}} props
 */
function Role({ row: { role, texts }, place, limit, index, form, fixed }) {
  const name = roleName(role);
  return html`
    <div class="role-row" role="group" aria-label=${name}>
      <span class="role-name">${name}</span>
      ${Object.entries(roleFields(limit.source)).map(([field, { label, unit }]) => html`
        <${LimitField} key=${field} id=${`${field}-${index}-${role}`} label=${`${label}, ${name}`} unit=${unit} value=${texts[field]} fixed=${fixed}
          error=${form.errors[`${field}-${index}-${role}`]} hint=${limit.texts[field]} isShort onInput=${(text) => setRoleText(index, place, field, text)} />
      `)}
      ${!fixed && html`
        <button type="button" class="quiet" aria-label=${`Remove ${name} from ${limit.name}`} onClick=${() => removeRole(index, place)}>Remove</button>`}
    </div>
  `;
}
