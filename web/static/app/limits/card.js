// @ts-check
// One limit: its rule in words, then its numbers. A limit that counts across all channels is
// read-only.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { keepLimit, moveLimit, neighbourOf, removeLimit, setField, setTick } from "./draft-edits.js";
import { fieldsIn, isFixed, switchesIn } from "./draft.js";
import { Kind } from "./kind.js";
import { LabLink } from "./lab-link.js";
import { Numbers } from "./numbers.js";
import { originText } from "./origin.js";
import { LimitOverrides } from "./overrides.js";
import { LimitRoles } from "./role-rows.js";
import { isClear, ruleIn } from "./rule.js";
import { TextTicks, ticked } from "./text-ticks.js";
import { SharedWeek } from "./week.js";
import { Tick } from "../widgets/field.js";
import { Icon } from "../widgets/icon.js";
import { algorithmOf } from "../words/algorithms.js";
import { isShared, isText, sharers } from "../words/scopes.js";
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
  const numbers = numbersIn(fieldsIn(limit), limit.texts);
  const rule = isClear(limit, index, form) ? ruleIn(limit, numbers, form) : t("limits.fix-field");
  return html`
    <fieldset class="limit ${fixed ? "fixed" : ""}">
      <legend>
        <span class="rule">${rule}</span>
        <span class="labels"><bdi class="name">${limit.name || t("limits.new-limit")}</bdi><span>${name}</span><span>${sharers[limit.per]}</span>${has(limit, "similar") && html`<span>${t("rules.same-similar")}</span>`}</span>
      </legend>
      ${!fixed && html`<${Moves} limit=${limit} index=${index} limits=${form.draft.limits} />`}
      ${!fixed && html`<${Kind} limit=${limit} index=${index} form=${form} overrides=${overrides} />`}
      <${Numbers} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      ${!fixed && html`<${Choices} limit=${limit} index=${index} />`}
      <${Notes} limit=${limit} fixed=${fixed} />
      <${LimitRoles} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      <${SharedWeek} limit=${limit} form=${form} channel=${channel} />
      <${LabLink} limit=${limit} index=${index} form=${form} channel=${channel} />
      ${!isText(limit) && html`<${LimitOverrides} name=${limit.source.name} fields=${fields} overrides=${overrides} />`}
    </fieldset>
  `;
}

// has reports whether a limit on repeated text has what can be ticked.
/** @param {DraftLimit} limit @param {string} name */
const has = (limit, name) => switchesIn(limit).includes(name) && limit.ticks[name];

/** @param {{limit: DraftLimit, index: number}} props */
function Removed({ limit, index }) {
  return html`
    <div class="limit removed">
      <p>${rich("limits.removed", { limit: html`<bdi>${limit.name}</bdi>` })}</p>
      <button type="button" id=${`keep-${index}`} onClick=${() => keepLimit(index)}>${t("limits.keep")}</button>
    </div>
  `;
}

/** @param {{limit: DraftLimit, index: number, limits: DraftLimit[]}} props */
function Moves({ limit: { name }, index, limits }) {
  return html`
    <span class="moves">
      <button type="button" class="icon-only" id=${`limit-${index}-up`} disabled=${neighbourOf(limits, index, -1) < 0} title=${t("limits.up")}
        aria-label=${t("limits.move-up", { limit: name })} onClick=${() => moveLimit(index, -1)}><${Icon} name="up" /></button>
      <button type="button" class="icon-only" id=${`limit-${index}-down`} disabled=${neighbourOf(limits, index, 1) < 0} title=${t("limits.down")}
        aria-label=${t("limits.move-down", { limit: name })} onClick=${() => moveLimit(index, 1)}><${Icon} name="down" /></button>
      <button type="button" class="icon-only" id=${`remove-${index}`} title=${t("limits.remove")} aria-label=${t("limits.remove-limit", { limit: name })} onClick=${() => removeLimit(index)}>
        <${Icon} name="trash" />
      </button>
    </span>
  `;
}

/** @param {{limit: DraftLimit, index: number}} props */
function Choices({ limit, index }) {
  return html`
    <div class="choices">
      <${TextTicks} names=${switchesIn(limit)} values=${limit.ticks} idOf=${(name) => `${name}-${index}`} onTick=${(name, is) => setTick(index, name, is)} />
      <${Tick} id=${`observes-${index}`} checked=${limit.observes} onChange=${(is) => setField(index, "observes", is)}>
        ${t("limits.observe")} <span class="muted">${t("limits.observe-about")}</span>
      <//>
      <${Tick} id=${`counts-${index}`} checked=${limit.countsThrottled} onChange=${(is) => setField(index, "countsThrottled", is)}>
        ${t("limits.count")} <span class="muted">${t("limits.count-about")}</span>
      <//>
    </div>
  `;
}

// Notes shows what the fields of the limit don't show.
/** @param {{limit: DraftLimit, fixed: boolean}} props */
function Notes({ limit, fixed }) {
  const notes = [
    fixed && limit.observes && t("limits.observes"),
    fixed && limit.countsThrottled && t("limits.counts"),
    fixed && switchesIn(limit).filter((name) => has(limit, name)).map((name) => t("shell.sentence", { what: ticked[name] ?? name })),
    (isShared(limit) || (fixed && limit.per === "text" && !has(limit, "strikes"))) && t("limits.no-strike"),
    isFixed(limit.source) && originText("limits.fixed-file", "limits.fixed-code"),
  ];
  return notes.flat().filter(Boolean).map((note) => html`<p class="muted">${note}</p>`);
}
