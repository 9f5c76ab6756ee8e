// @ts-check
// One limit: its rule in words, then its numbers. A limit that counts across all channels is
// read-only.

import { html } from "../../vendor/htm-preact.js";
import { configured } from "../core/state.js";
import { keepLimit, moveLimit, neighbourOf, removeLimit, setField } from "./draft-edits.js";
import { isFixed } from "./draft.js";
import { Kind } from "./kind.js";
import { LabLink } from "./lab-link.js";
import { Numbers } from "./numbers.js";
import { LimitOverrides } from "./overrides.js";
import { LimitRoles } from "./role-rows.js";
import { isClear, ruleIn } from "./rule.js";
import { SharedWeek } from "./week.js";
import { Tick } from "../widgets/field.js";
import { Icon } from "../widgets/icon.js";
import { algorithmOf } from "../words/algorithms.js";
import { isShared, sharers } from "../words/scopes.js";
import { numbersIn } from "../words/typed.js";
/** @import { State } from "../core/state.js" */
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

// LimitCard shows the draft of a limit. mayEdit is false if nothing can be changed now.
/**
 * @param {{limit: DraftLimit, index: number, form: Form, mayEdit: boolean, overrides: State["overrides"], channel: string}} props
 */
export function LimitCard({ limit, index, form, mayEdit, overrides, channel }) {
  if (limit.isRemoved) return html`<${Removed} limit=${limit} index=${index} />`;
  const fixed = !mayEdit || isFixed(limit.source);
  const { name, fields } = algorithmOf(limit.source);
  const numbers = numbersIn(fields, limit.texts);
  const rule = isClear(limit, index, form) ? ruleIn(limit, numbers, form) : "Fix the highlighted field.";
  return html`
    <fieldset class="limit ${fixed ? "fixed" : ""}">
      <legend>
        <span class="rule">${rule}</span>
        <span class="labels"><bdi class="name">${limit.name || "New limit"}</bdi><span>${name}</span><span>${sharers[limit.per]}</span></span>
      </legend>
      ${!fixed && html`<${Moves} limit=${limit} index=${index} limits=${form.draft.limits} />`}
      ${!fixed && html`<${Kind} limit=${limit} index=${index} form=${form} overrides=${overrides} />`}
      <${Numbers} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      ${!fixed && html`<${Choices} limit=${limit} index=${index} />`}
      <${Notes} limit=${limit} fixed=${fixed} />
      <${LimitRoles} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      <${SharedWeek} limit=${limit} form=${form} channel=${channel} />
      <${LabLink} limit=${limit} index=${index} form=${form} channel=${channel} />
      <${LimitOverrides} name=${limit.source.name} fields=${fields} overrides=${overrides} />
    </fieldset>
  `;
}

/** @param {{limit: DraftLimit, index: number}} props */
function Removed({ limit, index }) {
  return html`
    <div class="limit removed">
      <p>Saving removes <bdi>${limit.name}</bdi> and clears everyone’s usage of it.</p>
      <button type="button" id=${`keep-${index}`} onClick=${() => keepLimit(index)}>Keep</button>
    </div>
  `;
}

/** @param {{limit: DraftLimit, index: number, limits: DraftLimit[]}} props */
function Moves({ limit: { name }, index, limits }) {
  return html`
    <span class="moves">
      <button type="button" class="icon-only" id=${`limit-${index}-up`} disabled=${neighbourOf(limits, index, -1) < 0} title="Move up"
        aria-label=${`Move the limit ${name} up`} onClick=${() => moveLimit(index, -1)}><${Icon} name="up" /></button>
      <button type="button" class="icon-only" id=${`limit-${index}-down`} disabled=${neighbourOf(limits, index, 1) < 0} title="Move down"
        aria-label=${`Move the limit ${name} down`} onClick=${() => moveLimit(index, 1)}><${Icon} name="down" /></button>
      <button type="button" class="icon-only" id=${`remove-${index}`} title="Remove" aria-label=${`Remove the limit ${name}`} onClick=${() => removeLimit(index)}>
        <${Icon} name="trash" />
      </button>
    </span>
  `;
}

/** @param {{limit: DraftLimit, index: number}} props */
function Choices({ limit, index }) {
  return html`
    <div class="choices">
      <${Tick} id=${`observes-${index}`} checked=${limit.observes} onChange=${(is) => setField(index, "observes", is)}>
        Observe only <span class="muted">Reports messages over this limit, but throttles nobody.</span>
      <//>
      <${Tick} id=${`counts-${index}`} checked=${limit.countsThrottled} onChange=${(is) => setField(index, "countsThrottled", is)}>
        Throttled messages also count <span class="muted">Users who keep writing while throttled wait longer.</span>
      <//>
    </div>
  `;
}

// Notes shows what the fields of the limit don't show.
/** @param {{limit: DraftLimit, fixed: boolean}} props */
function Notes({ limit, fixed }) {
  const notes = [
    fixed && limit.observes && "Observe only: reports messages over the limit, but throttles nobody.",
    fixed && limit.countsThrottled && "Throttled messages also count.",
    isShared(limit) && "Messages over this limit are removed without a strike.",
    isFixed(limit.source) && `Applies across all channels. Change it in the ${configured().name}.`,
  ];
  return notes.filter(Boolean).map((note) => html`<p class="muted">${note}</p>`);
}
