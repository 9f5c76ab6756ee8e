// @ts-check
// The settings beside the limits: penalties, exempt roles and the channel's time zone.

import { html } from "../../vendor/htm-preact.js";
import { inWords } from "./card.js";
import { addRung, moveRung, removeRung, setExempt, setRung } from "./draft-edits.js";
import { lengthFields } from "./draft.js";
import { edit } from "./form.js";
import { LimitField, Tick, Zones } from "../widgets/field.js";
import { todo } from "../words/penalties.js";
import { roleName, roles } from "../words/roles.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Form } from "./form.js" */

/** @param {{form: Form, mayEdit: boolean}} props */
export function Penalties({ form, mayEdit }) {
  return html`
    <${Ladder} form=${form} mayEdit=${mayEdit} />
    <fieldset>
      <legend>Exempt roles</legend>
      <div class="choices abreast">
        ${roles.filter((role) => role !== "everyone" || form.policy.exempt?.includes(role)).map((role) => html`
          <${Tick} key=${role} id=${`exempt-${role}`} checked=${form.draft.exempt.includes(role)} fixed=${!mayEdit} onChange=${(is) => setExempt(role, is)}>
            ${roleName(role)}
          <//>
        `)}
      </div>
    </fieldset>
    <fieldset>
      <legend>Time zone</legend>
      <div class="fields">
        <${LimitField} id="zone" label="Channel’s time zone" value=${form.draft.timezone} fixed=${!mayEdit} error=${form.errors.zone} hint="UTC"
          isText list="zones" onInput=${(text) => edit((draft) => (draft.timezone = text))} />
      </div>
      <${Zones} />
    </fieldset>
  `;
}

const noStep = " If the ladder has no steps, messages are blocked before anyone sees them. Only a chat server can do that.";

// Ladder shows the rungs in order.
/** @param {{form: Form, mayEdit: boolean}} props */
function Ladder({ form, mayEdit }) {
  const { rungs } = form.draft;
  return html`
    <fieldset class="ladder">
      <legend>Penalties</legend>
      <p class="muted">Each strike leads to the next step. The last step repeats.${rungs.length === 0 && noStep}</p>
      <ol>${rungs.map((rung, i) => html`<${Rung} key=${i} rung=${rung} index=${i} form=${form} mayEdit=${mayEdit} />`)}</ol>
      ${mayEdit && html`<button type="button" class="quiet" id="add-rung" onClick=${addRung}>Add a step</button>`}
      <div class="fields">
        ${Object.entries(lengthFields).map(([name, { label, unit }]) => html`
          <${LimitField} key=${name} id=${name} label=${label} unit=${unit + inWords(Number(form.draft.lengths[name]))} value=${form.draft.lengths[name]}
            fixed=${!mayEdit} error=${form.errors[name]} onInput=${(text) => edit((draft) => (draft.lengths[name] = text))} />
        `)}
      </div>
    </fieldset>
  `;
}

/** @param {{rung: import("./draft.js").Rung, index: number, form: Form, mayEdit: boolean}} props */
function Rung({ rung: { action, length }, index, form, mayEdit }) {
  const id = `rung-${index}`, step = `step ${index + 1}`;
  const last = form.draft.rungs.length - 1;
  /** @param {{target: HTMLSelectElement}} event */
  const choose = (event) => setRung(index, { action: event.target.value, length: event.target.value === "timeout" ? length || "600" : "" });
  return html`
    <li>
      <div class="rung">
        ${mayEdit
          ? html`<select id=${`${id}-action`} aria-label=${`Penalty, ${step}`} value=${action} onChange=${choose}>
              ${Object.entries(todo).map(([value, words]) => html`<option value=${value} selected=${value === action}>${words}</option>`)}
            </select>`
          : html`<span>${todo[action] ?? action}</span>`}
        ${action === "timeout" && html`
          <${LimitField} id=${id} label=${`Timeout duration, ${step}`} unit=${"seconds" + inWords(Number(length))} value=${length} fixed=${!mayEdit} isShort
            error=${form.errors[id]} onInput=${(text) => setRung(index, { length: text })} />`}
        ${mayEdit && html`
          <span class="moves">
            <${Move} id=${`${id}-up`} name=${`Move ${step} up`} disabled=${index === 0} onClick=${() => moveRung(index, -1)}>↑<//>
            <${Move} id=${`${id}-down`} name=${`Move ${step} down`} disabled=${index === last} onClick=${() => moveRung(index, 1)}>↓<//>
            <${Move} id=${`${id}-remove`} name=${`Remove ${step}`} onClick=${() => removeRung(index)}>Remove<//>
          </span>`}
      </div>
    </li>
  `;
}

/**
 * @param {{id: string, name: string, disabled?: boolean, onClick: () => void, children: View}} props
 */
function Move({ id, name, disabled, onClick, children }) {
  return html`<button type="button" class="quiet" id=${id} disabled=${disabled} aria-label=${name} onClick=${onClick}>${children}</button>`;
}
