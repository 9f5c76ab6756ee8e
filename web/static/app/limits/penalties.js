// @ts-check
// The settings beside the limits: penalties, exempt roles and messages, and the channel's time
// zone.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { addRung, moveRung, removeRung, setExempt, setExemptMessages, setRung } from "./draft-edits.js";
import { usualTimeout } from "./draft.js";
import { edit } from "./form.js";
import { LimitField, Tick, Zones } from "../widgets/field.js";
import { Icon } from "../widgets/icon.js";
import { parseLength } from "../words/lengths.js";
import { kindsOf, messageKindName } from "../words/message-kinds.js";
import { severities, todo } from "../words/penalties.js";
import { roleName, rolesOf } from "../words/roles.js";
import { wait } from "../words/time.js";
/** @import { lengthFields, Rung } from "./draft.js" */
/** @import { Form } from "./form.js" */

/** @param {{form: Form, mayEdit: boolean}} props */
export function Penalties({ form, mayEdit }) {
  return html`
    <${Ladder} form=${form} mayEdit=${mayEdit} />
    <fieldset>
      <legend>${t("limits.exempt")}</legend>
      <div class="choices abreast">
        ${rolesOf(form.policy).filter((role) => role !== "everyone" || form.policy.exempt?.includes(role)).map((role) => html`
          <${Tick} key=${role} id=${`exempt-${role}`} checked=${form.draft.exempt.includes(role)} fixed=${!mayEdit} onChange=${(is) => setExempt(role, is)}>
            ${roleName(role)}
          <//>
        `)}
      </div>
    </fieldset>
    <${ExemptMessages} form=${form} mayEdit=${mayEdit} />
    <fieldset>
      <legend>${t("limits.zone-title")}</legend>
      <div class="fields">
        <${LimitField} id="zone" label=${t("limits.channel-zone")} value=${form.draft.timezone} fixed=${!mayEdit || form.busy} error=${form.errors.zone} hint="UTC"
          isText list="zones" onInput=${(text) => edit((draft) => (draft.timezone = text))} />
      </div>
      <${Zones} />
    </fieldset>
  `;
}

/** @param {{form: Form, mayEdit: boolean}} props */
function ExemptMessages({ form, mayEdit }) {
  const kinds = kindsOf(form.policy);
  return kinds.length > 0 && html`
    <fieldset>
      <legend>${t("limits.exempt-messages")}</legend>
      <p class="muted">${t("limits.exempt-messages-about")}${kinds.includes("bits") && html` ${t("limits.exempt-messages-cheer")}`}</p>
      <div class="choices abreast">
        ${kinds.map((kind) => html`
          <${Tick} key=${kind} id=${`exempt-${kind}`} checked=${form.draft.exemptMessages.includes(kind)} fixed=${!mayEdit}
            onChange=${(is) => setExemptMessages(kind, is)}>
            ${messageKindName(kind)}
          <//>
        `)}
      </div>
    </fieldset>
  `;
}

const mostRungs = 32; // the server refuses a longer ladder

// Ladder shows the rungs in order: as a line of chips, then as fields.
/** @param {{form: Form, mayEdit: boolean}} props */
function Ladder({ form, mayEdit }) {
  const { rungs } = form.draft;
  return html`
    <fieldset class="ladder">
      <legend>${t("limits.penalties")}</legend>
      ${rungs.length > 0 && html`<p class="steps">${rungs.map((rung, i) => html`${i > 0 && html`<span class="muted">→</span>`}<${Step} rung=${rung} />`)}</p>`}
      <p class="muted">${rungs.length === 0 ? t("limits.no-steps") : t("limits.steps")}</p>
      <ol>${rungs.map((rung, i) => html`<${Rung} key=${i} rung=${rung} index=${i} form=${form} mayEdit=${mayEdit} />`)}</ol>
      ${mayEdit && rungs.length < mostRungs && html`<button type="button" class="quiet" id="add-rung" onClick=${addRung}><${Icon} name="plus" />${t("limits.add-step")}</button>`}
      <div class="fields">
        <${StrikeLength} name="strike_every" label=${t("limits.strike-every")} zero=${t("limits.strike-every-0")} form=${form} mayEdit=${mayEdit} />
        <${StrikeLength} name="forget_after" label=${t("limits.forget-after")} zero=${t("limits.forget-after-0")} form=${form} mayEdit=${mayEdit} />
      </div>
    </fieldset>
  `;
}

/** @param {{name: keyof typeof lengthFields, label: string, zero: string, form: Form, mayEdit: boolean}} props */
function StrikeLength({ name, label, zero, form, mayEdit }) {
  return html`
    <${LimitField} id=${name} label=${label} isLength zero=${zero} value=${form.draft.lengths[name]} fixed=${!mayEdit || form.busy} error=${form.errors[name]}
      onInput=${(/** @type {string} */ text) => edit((draft) => (draft.lengths[name] = text))} />
  `;
}

// Step is a rung as a chip: its penalty or, for a timeout, its duration.
/** @param {{rung: Rung}} props */
function Step({ rung }) {
  const [kind] = rung.action.split(" ");
  return html`<span class="chip ${severities[kind] ?? ""}">${stepName(rung)}</span>`;
}

/** @param {Rung} of */
function stepName({ action, length }) {
  const ns = parseLength(length);
  switch (action) {
    case "delete": return t("limits.step-delete");
    case "warn": return t("limits.step-warn");
    case "timeout": return ns === null ? t("limits.step-timeout") : wait(Number(ns) / 1e6);
    case "timeout refill": return t("limits.step-refill");
    case "ban": return t("limits.step-ban");
    case "drop": return t("limits.step-drop");
    case "none": return t("limits.step-none");
  }
  return action;
}

/** @param {{rung: Rung, index: number, form: Form, mayEdit: boolean}} props */
function Rung({ rung: { action, length }, index, form, mayEdit }) {
  const id = `rung-${index}`, step = index + 1;
  const last = form.draft.rungs.length - 1, wrong = form.errors[`${id}-action`];
  const actions = action in todo ? Object.keys(todo) : [...Object.keys(todo), action]; // the program's own
  /** @param {{target: HTMLSelectElement}} event */
  const choose = (event) => setRung(index, { action: event.target.value, length: event.target.value === "timeout" ? length || usualTimeout() : "" });
  return html`
    <li>
      <div class="rung">
        ${mayEdit
          ? html`<select id=${`${id}-action`} aria-label=${t("limits.step-penalty", { step })} value=${action} onChange=${choose}
              aria-invalid=${wrong ? "true" : "false"} aria-describedby=${`${id}-action-error`}>
              ${actions.map((value) => html`<option value=${value} selected=${value === action}>${todo[value] ?? value}</option>`)}
            </select>`
          : html`<span>${todo[action] ?? action}</span>`}
        ${action === "timeout" && html`
          <${LimitField} id=${id} label=${t("limits.step-length", { step })} unit="" value=${length} fixed=${!mayEdit || form.busy} isShort isLength
            error=${form.errors[id]} onInput=${(text) => setRung(index, { length: text })} />`}
        ${mayEdit && html`
          <span class="moves">
            <${Move} id=${`${id}-up`} icon="up" name=${t("limits.step-up", { step })} disabled=${index === 0} onClick=${() => moveRung(index, -1)} />
            <${Move} id=${`${id}-down`} icon="down" name=${t("limits.step-down", { step })} disabled=${index === last} onClick=${() => moveRung(index, 1)} />
            <${Move} id=${`${id}-remove`} icon="trash" name=${t("limits.step-remove", { step })} onClick=${() => removeRung(index)} />
          </span>`}
      </div>
      <p id=${`${id}-action-error`} class="error" aria-live="polite">${wrong}</p>
    </li>
  `;
}

/**
 * @param {{id: string, icon: string, name: string, disabled?: boolean, onClick: () => void}} props
 */
function Move({ id, icon, name, disabled, onClick }) {
  return html`<button type="button" class="icon-only" id=${id} disabled=${disabled} title=${name} aria-label=${name} onClick=${onClick}><${Icon} name=${icon} /></button>`;
}
