// @ts-check
// One number for each role: how many times everyone's numbers it has, in all limits.

import { commas, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { setTimes } from "./draft-edits.js";
import { isFixed } from "./draft.js";
import { hasOnePace, isMultiplied, shownTimes } from "./times.js";
import { LimitField } from "../widgets/field.js";
import { capitalised, roleGroup, rolesOf } from "../words/roles.js";
import { isText } from "../words/scopes.js";
/** @import { Form } from "./form.js" */

// RoleTimes has a field for each role that isn't exempt. It is above the limits, whose rows come
// and go while somebody types.
/** @param {{form: Form, mayEdit: boolean}} props */
export function RoleTimes({ form, mayEdit }) {
  const { limits, exempt } = form.draft;
  const roles = rolesOf(form.policy).filter((role) => role !== "everyone" && !exempt.includes(role));
  if (roles.length === 0 || !limits.some(isMultiplied)) return null;
  const left = limits.filter((limit) => !limit.isRemoved && !isMultiplied(limit));
  const names = /** @param {typeof left} some */ (some) => commas(some.map(({ name }) => name));
  const across = left.filter(({ source }) => isFixed(source)), slow = left.filter((limit) => !isFixed(limit.source) && hasOnePace(limit)), texts = left.filter(isText);
  return html`
    <fieldset class="times">
      <legend>${t("limits.times")}</legend>
      <p class="muted">${t("limits.times-about")}</p>
      <div class="fields">
        ${roles.map((role) => html`
          <${LimitField} key=${role} id=${`times-${role}`} label=${capitalised(roleGroup(role))} unit=${t("limits.times-unit")} value=${shownTimes(form.draft, role)}
            hint=${t("limits.times-mixed")} fixed=${!mayEdit || form.busy} error=${form.errors[`times-${role}`]} onInput=${(/** @type {string} */ text) => setTimes(role, text)} />
        `)}
      </div>
      ${slow.length > 0 && html`<p class="muted">${t("limits.times-pace", { limits: names(slow) })}</p>`}
      ${across.length > 0 && html`<p class="muted">${t("limits.times-across", { limits: names(across) })}</p>`}
      ${texts.length > 0 && html`<p class="muted">${t("limits.times-texts", { limits: names(texts) })}</p>`}
    </fieldset>
  `;
}
