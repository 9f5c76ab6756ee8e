// What holds beside the limits: the channel's zone, who is never judged, and what happens to those who are throttled.

import { html } from "../vendor/htm-preact.js";
import { lengthFields } from "./draft.js";
import { addRung, moveRung, removeRung, setExempt, setRung } from "./edits.js";
import { inWords } from "./limit-card.js";
import { LimitField, Tick } from "./limit-field.js";
import { todo } from "./penalty-words.js";
import { edit } from "./policy.js";
import { roleName, roles } from "./roles.js";
import { Zones } from "./zones.js";

export function Penalties({ form, mayEdit }) {
  return html`
    <${Ladder} form=${form} mayEdit=${mayEdit} />
    <fieldset>
      <legend>Without limits</legend>
      <div class="choices abreast">
        ${roles.filter((role) => role !== "everyone" || form.policy.exempt?.includes(role)).map((role) => html`
          <${Tick} key=${role} id=${`exempt-${role}`} checked=${form.draft.exempt.includes(role)} fixed=${!mayEdit} onChange=${(is) => setExempt(role, is)}>
            ${roleName(role)}
          <//>
        `)}
      </div>
    </fieldset>
    <fieldset>
      <legend>Zone</legend>
      <div class="fields">
        <${LimitField} id="zone" label="Zone of the channel’s day" value=${form.draft.timezone} fixed=${!mayEdit} error=${form.errors.zone} hint="UTC"
          isText list="zones" onInput=${(text) => edit((draft) => (draft.timezone = text))} />
      </div>
      <${Zones} />
    </fieldset>
  `;
}

const noStep = " Without any step, messages are dropped unseen, which only a chat server can do.";

// Ladder is the rungs in their order.
function Ladder({ form, mayEdit }) {
  const { rungs } = form.draft;
  return html`
    <fieldset class="ladder">
      <legend>Penalties</legend>
      <p class="muted">Each strike leads one step further; the last repeats.${rungs.length === 0 && noStep}</p>
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

function Rung({ rung: { action, length }, index, form, mayEdit }) {
  const id = `rung-${index}`, step = `step ${index + 1}`;
  const last = form.draft.rungs.length - 1;
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
          <${LimitField} id=${id} label=${`Length of the timeout, ${step}`} unit=${"seconds" + inWords(Number(length))} value=${length} fixed=${!mayEdit} isShort
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

function Move({ id, name, disabled, onClick, children }) {
  return html`<button type="button" class="quiet" id=${id} disabled=${disabled} aria-label=${name} onClick=${onClick}>${children}</button>`;
}
