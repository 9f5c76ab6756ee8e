// @ts-check
// Editing a lane: its limits with their numbers, and what can be done with the lane.

import { t } from "../text/text.js";
import { html } from "../vendor/htm-preact.js";
import { Icon } from "../app/widgets/icon.js";
import { algorithmNames, algorithmOf } from "../app/words/algorithms.js";
import { LimitFields } from "./fields.js";
import { mostLanes, mostLimits, newLimit, withAlgorithm } from "./limits.js";
import { refresh } from "./player.js";
import { change, lab, newLane } from "./state.js";
/** @import { Lane, Limit } from "./state.js" */

// addLane adds a lane with limits, if there is room for another lane.
/** @param {Limit[]} limits */
export function addLane(limits) {
  if (lab.lanes.length >= mostLanes) return;
  change((l) => (l.lanes = [...l.lanes, newLane(limits)]));
  refresh();
}

/** @param {number} id @param {(lane: Lane) => Lane} edit */
function editLane(id, edit) {
  change((l) => (l.lanes = l.lanes.map((lane) => (lane.id === id ? edit(lane) : lane))));
  refresh();
}

/** @param {number} id */
export function removeLane(id) {
  change((l) => Object.assign(l, { lanes: l.lanes.filter((lane) => lane.id !== id), grants: l.grants.filter(({ lane }) => lane !== id), edited: 0 }));
  refresh();
}

// algorithmChoices are the algorithms as options of a select.
/** @param {string} [chosen] */
export const algorithmChoices = (chosen) => algorithmNames().map((name) => html`<option value=${name} selected=${name === chosen}>${algorithmOf({ algorithm: name }).name}</option>`);

/** @param {{lane: Lane, number: number}} props */
export function EditLane({ lane, number }) {
  const { id, limits } = lane;
  /** @param {number} at @param {Limit} limit */
  const replace = (at, limit) => editLane(id, (lane) => ({ ...lane, limits: lane.limits.with(at, limit) }));
  return html`
    <div class="edit-lane" id=${`edit-${id}`}>
      ${limits.map((limit, i) => html`<${EditLimit} key=${i} id=${`limit-${id}-${i}`} lane=${lane} limit=${limit} onChange=${(/** @type {Limit} */ limit) => replace(i, limit)}
        onRemove=${limits.length > 1 ? () => editLane(id, (lane) => ({ ...lane, limits: lane.limits.filter((_, at) => at !== i) })) : null} />`)}
      <div class="together">
        ${limits.length < mostLimits && html`<button type="button" onClick=${() => editLane(id, (lane) => ({ ...lane, limits: [...lane.limits, newLimit("daily-window", lane.limits)] }))}><${Icon} name="plus" />${t("lab.add-limit")}</button>`}
        ${lab.lanes.length < mostLanes && html`<button type="button" onClick=${() => addLane(limits)}><${Icon} name="copy" />${t("lab.duplicate")}</button>`}
        <button type="button" class="danger" onClick=${() => removeLane(id)}><${Icon} name="trash" />${t("lab.remove-lane", { number })}</button>
        ${limits.length > 1 && html`<span class="muted">${t("lab.all-allow")}</span>`}
      </div>
    </div>
  `;
}

/** @param {{id: string, lane: Lane, limit: Limit, onChange: (limit: Limit) => void, onRemove: (() => void) | null}} props */
function EditLimit({ id, lane, limit, onChange, onRemove }) {
  const { about } = algorithmOf(limit);
  /** @param {string} algorithm */
  const choose = (algorithm) => onChange(withAlgorithm(limit, newLimit(algorithm, lane.limits.filter((other) => other !== limit))));
  return html`
    <fieldset class="edit-limit">
      <legend class="unseen">${t("lab.limit", { limit: limit.name })}</legend>
      <div class="kind-of">
        <label for=${`${id}-algorithm`}>${t("lab.algorithm")}</label>
        <div class="together">
          <select id=${`${id}-algorithm`} onChange=${(event) => choose(event.target.value)}>${algorithmChoices(limit.algorithm)}</select>
          ${onRemove && html`<button type="button" class="icon-only" aria-label=${t("lab.remove-limit", { limit: limit.name })} title=${t("lab.remove-this")} onClick=${onRemove}><${Icon} name="close" /></button>`}
        </div>
        <p class="muted about">${about}</p>
      </div>
      <${LimitFields} id=${id} limit=${limit} wrong=${lab.wrong} onChange=${onChange} />
    </fieldset>
  `;
}
