// @ts-check
// The settings beside the limits: penalties, exempt roles and the channel's time zone.

import { html } from "../../vendor/htm-preact.js";
import { addRung, moveRung, removeRung, setExempt, setRung } from "./draft-edits.js";
import { lengthFields } from "./draft.js";
import { edit } from "./form.js";
import { LimitField, Tick, Zones } from "../widgets/field.js";
import { Icon } from "../widgets/icon.js";
import { parseLength } from "../words/lengths.js";
import { nouns, past, todo } from "../words/penalties.js";
import { roleName, roles } from "../words/roles.js";
import { wait } from "../words/time.js";
/** @import { Rung } from "./draft.js" */
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

const noStep = "If there are no steps, messages are blocked before anyone sees them. Only a chat server can do that.";

// Ladder shows the rungs in order: as a line of chips, then as fields.
/** @param {{form: Form, mayEdit: boolean}} props */
function Ladder({ form, mayEdit }) {
  const { rungs } = form.draft;
  return html`
    <fieldset class="ladder">
      <legend>Penalties</legend>
      ${rungs.length > 0 && html`<p class="steps">${rungs.map((rung, i) => html`${i > 0 && html`<span class="muted">→</span>`}<${Step} rung=${rung} />`)}</p>`}
      <p class="muted">${rungs.length === 0 ? noStep : "Each strike leads to the next step. The last step repeats."}</p>
      <ol>${rungs.map((rung, i) => html`<${Rung} key=${i} rung=${rung} index=${i} form=${form} mayEdit=${mayEdit} />`)}</ol>
      ${mayEdit && html`<button type="button" class="quiet" id="add-rung" onClick=${addRung}><${Icon} name="plus" />Add a step</button>`}
      <div class="fields">
        ${Object.entries(lengthFields).map(([name, { label, unit, zero }]) => html`
          <${LimitField} key=${name} id=${name} label=${label} unit=${unit} isLength zero=${zero} value=${form.draft.lengths[name]}
            fixed=${!mayEdit} error=${form.errors[name]} onInput=${(text) => edit((draft) => (draft.lengths[name] = text))} />
        `)}
      </div>
    </fieldset>
  `;
}

/** @type {Record<string, string>} */
const short = { drop: nouns.drop, none: nouns.none };

// Step is a rung as a chip: its penalty or, for a timeout, its duration.
/** @param {{rung: Rung}} props */
function Step({ rung: { action, length } }) {
  const [kind, refill] = action.split(" ");
  const ns = parseLength(length);
  const timeout = refill ? "timeout until refill" : ns === null ? "timeout" : wait(Number(ns) / 1e6);
  return html`<span class="chip ${past[kind]?.replaceAll(" ", "-") ?? ""}">${kind === "timeout" ? timeout : (short[kind] ?? kind)}</span>`;
}

/** @param {{rung: Rung, index: number, form: Form, mayEdit: boolean}} props */
function Rung({ rung: { action, length }, index, form, mayEdit }) {
  const id = `rung-${index}`, step = `step ${index + 1}`;
  const last = form.draft.rungs.length - 1;
  /** @param {{target: HTMLSelectElement}} event */
  const choose = (event) => setRung(index, { action: event.target.value, length: event.target.value === "timeout" ? length || "10 minutes" : "" });
  return html`
    <li>
      <div class="rung">
        ${mayEdit
          ? html`<select id=${`${id}-action`} aria-label=${`Penalty, ${step}`} value=${action} onChange=${choose}>
              ${Object.entries(todo).map(([value, words]) => html`<option value=${value} selected=${value === action}>${words}</option>`)}
            </select>`
          : html`<span>${todo[action] ?? action}</span>`}
        ${action === "timeout" && html`
          <${LimitField} id=${id} label=${`Timeout duration, ${step}`} unit="" value=${length} fixed=${!mayEdit} isShort isLength
            error=${form.errors[id]} onInput=${(text) => setRung(index, { length: text })} />`}
        ${mayEdit && html`
          <span class="moves">
            <${Move} id=${`${id}-up`} icon="up" name=${`Move ${step} up`} disabled=${index === 0} onClick=${() => moveRung(index, -1)} />
            <${Move} id=${`${id}-down`} icon="down" name=${`Move ${step} down`} disabled=${index === last} onClick=${() => moveRung(index, 1)} />
            <${Move} id=${`${id}-remove`} icon="trash" name=${`Remove ${step}`} onClick=${() => removeRung(index)} />
          </span>`}
      </div>
    </li>
  `;
}

/**
 * @param {{id: string, icon: string, name: string, disabled?: boolean, onClick: () => void}} props
 */
function Move({ id, icon, name, disabled, onClick }) {
  return html`<button type="button" class="icon-only" id=${id} disabled=${disabled} title=${name} aria-label=${name} onClick=${onClick}><${Icon} name=${icon} /></button>`;
}
