// @ts-check
// Roles with custom numbers in a limit, one row each: the role's rule in words, then its numbers.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { addRole, removeRole, setRoleText } from "./draft-edits.js";
import { fieldsIn } from "./draft.js";
import { isClear, ruleIn } from "./rule.js";
import { LimitField } from "../widgets/field.js";
import { Icon } from "../widgets/icon.js";
import { roleFields } from "../words/algorithms.js";
import { capitalised, lowered, roleGroup, roleName, rolesOf } from "../words/roles.js";
import { numbersIn } from "../words/typed.js";
/** @import { DraftLimit, DraftRole } from "./draft.js" */
/** @import { Form } from "./form.js" */

/** @param {{limit: DraftLimit, index: number, form: Form, fixed: boolean}} props */
export function LimitRoles({ limit, index, form, fixed }) {
  const left = choicesFor(form.policy, limit);
  if (limit.roles.length === 0 && fixed) return null;
  /** @param {string} role */
  const isExempt = (role) => form.draft.exempt.some((exempt) => exempt === role);
  return html`
    <div class="roles" role="group" aria-label=${t("limits.roles", { limit: limit.name })}>
      ${limit.roles.map((row, place) => html`
        <${Role} key=${row.role} row=${row} place=${place} limit=${limit} index=${index} form=${form} fixed=${fixed} isExempt=${isExempt(row.role)} />
      `)}
      ${!fixed && left.length > 0 && html`
        <label class="unseen" for=${`role-${index}`}>${t("limits.add-role", { limit: limit.name })}</label>
        <select id=${`role-${index}`} class="quiet" value="" onChange=${(event) => pick(event.target, index)}>
          <option value="">${t("limits.choose-role")}</option>
          ${left.map((role) => html`<option value=${role}>${isExempt(role) ? t("limits.exempt-role", { role: roleName(role) }) : roleName(role)}</option>`)}
        </select>
      `}
    </div>
  `;
}

// choicesFor returns the roles that can get custom numbers. The limit's own numbers are those of
// everyone.
/** @param {Api.Policy} policy @param {DraftLimit} limit */
const choicesFor = (policy, limit) => rolesOf(policy).filter((role) => role !== "everyone" && !limit.roles.some((row) => row.role === role));

/** @param {HTMLSelectElement} select @param {number} index */
function pick(select, index) {
  const role = select.value;
  select.value = "";
  if (role) addRole(index, role);
}

/**
 * @param {{row: DraftRole, place: number, limit: DraftLimit, index: number, form: Form, fixed: boolean, isExempt: boolean}} props
 */
function Role({ row: { role, texts }, place, limit, index, form, fixed, isExempt }) {
  const name = roleName(role), group = html`<strong>${capitalised(roleGroup(role))}</strong>`;
  const fields = roleFields(limit.source);
  const id = /** @param {string} field */ (field) => `${field}-${index}-${role}`;
  const isRight = isClear(limit, index, form) && Object.keys(fields).every((field) => !form.errors[id(field)]);
  const numbers = { ...numbersIn(fieldsIn(limit), limit.texts), ...numbersIn(fields, texts) };
  return html`
    <div class="role-row" role="group" aria-label=${name}>
      <p class="role-rule">${isRight && !isExempt ? rich("limits.role-rule", { role: group, rule: lowered(ruleIn(limit, numbers, form)) }) : group}</p>
      ${Object.entries(fields).map(([field, { label, unit, isLength }]) => html`
        <${LimitField} key=${field} id=${id(field)} label=${t("limits.role-field", { field: label, role: name })} unit=${unit} isLength=${isLength} value=${texts[field]} fixed=${fixed || form.busy}
          error=${form.errors[id(field)]} hint=${limit.texts[field]} isShort onInput=${(text) => setRoleText(index, place, field, text)} />
      `)}
      ${!fixed && html`
        <button type="button" class="icon-only" title=${t("limits.remove")} aria-label=${t("limits.remove-role", { role: name, limit: limit.name })} onClick=${() => removeRole(index, place)}>
          <${Icon} name="trash" />
        </button>`}
      ${isExempt && html`
        <p class="useless">
          ${role === "broadcaster" ? t("limits.broadcaster-exempt") : t("limits.roles-exempt", { roles: capitalised(roleGroup(role)) })}
          ${!fixed && html`<button type="button" class="link" onClick=${() => document.getElementById(`exempt-${role}`).focus()}>${t("limits.change-exempt")}</button>`}
        </p>`}
    </div>
  `;
}
