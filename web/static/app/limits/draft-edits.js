// @ts-check
// Edits of the draft: typing, adding, removing and moving. An edit that adds, removes or moves
// something also names the element that gets the focus.

import { state, update } from "../core/state.js";
import { draftRole, isFixed, newLimit, usualTimeout } from "./draft.js";
import { edit, unfold } from "./form.js";
import { presenceOf, withPreset } from "./presets.js";
import { kindsOf } from "../words/message-kinds.js";
import { rolesOf } from "../words/roles.js";
/** @import { DraftLimit, Rung } from "./draft.js" */
/** @import { Form } from "./form.js" */
/** @import { Filling } from "./presets.js" */

/** @param {number} index @param {keyof DraftLimit} key @param {string | boolean} value */
export const setField = (index, key, value) => edit((draft) => Object.assign(draft.limits[index], { [key]: value }));
/** @param {number} index @param {string} name @param {boolean} is */
export const setTick = (index, name, is) => edit((draft) => (draft.limits[index].ticks[name] = is));
/** @param {number} index @param {string} field @param {string} text */
export const setText = (index, field, text) => edit((draft) => (draft.limits[index].texts[field] = text));
/** @param {number} index @param {number} row @param {string} field @param {string} text */
export function setRoleText(index, row, field, text) {
  edit((draft) => {
    const changed = draft.limits[index].roles[row];
    changed.texts[field] = text;
    delete draft.times[changed.role];
  });
}

// setTimes gives a role a multiple of everyone's numbers in all limits.
/** @param {string} role @param {string} text */
export const setTimes = (role, text) => edit((draft) => (draft.times[role] = text));

/** @param {string} algorithm */
export function addLimit(algorithm) {
  const { limits } = state.form.draft;
  const added = newLimit(algorithm, limits);
  unfold(added.id, "name", true);
  edit((draft) => draft.limits.push(added), `name-${limits.length}`);
}

// removeLimit marks a limit as removed until the next save. A new limit is removed at once.
/** @param {number} index */
export function removeLimit(index) {
  const { isNew } = state.form.draft.limits[index];
  if (isNew) edit((draft) => draft.limits.splice(index, 1), "add-limit");
  else edit((draft) => (draft.limits[index].isRemoved = true), `keep-${index}`);
}

/** @param {number} index */
export function keepLimit(index) {
  edit((draft) => (draft.limits[index].isRemoved = false), `remove-${index}`);
}

// setKind gives a limit the algorithm and the numbers of another draft of it.
/** @param {number} index @param {DraftLimit} kind */
export const setKind = (index, { source, texts, roles }) => edit(({ limits }) => Object.assign(limits[index], { source, texts, roles }));

// neighbourOf returns the index of the next limit above (step -1) or below (1) that can change its
// place with the limit, or -1.
/** @param {DraftLimit[]} limits @param {number} index @param {number} step @returns {number} */
export function neighbourOf(limits, index, step) {
  const next = index + step;
  if (next < 0 || next >= limits.length) return -1;
  return isFixed(limits[next].source) || limits[next].isRemoved ? neighbourOf(limits, next, step) : next;
}

// moveLimit moves a limit up (step -1) or down (1). The focus stays on the pressed button until the
// limit reaches an end of the list.
/** @param {number} index @param {number} step */
export function moveLimit(index, step) {
  const { limits } = state.form.draft;
  const to = neighbourOf(limits, index, step);
  if (to < 0) return;
  const isAtEnd = neighbourOf(limits, to, step) < 0;
  const focus = `limit-${to}-${(step < 0) === isAtEnd ? "down" : "up"}`;
  edit((draft) => ([draft.limits[index], draft.limits[to]] = [draft.limits[to], draft.limits[index]]), focus);
}

// isChosen reports whether the draft is as a preset has filled it, or has the limit that it adds.
/** @param {Form} form @param {Filling} preset */
export const isChosen = ({ draft, presets }, preset) => (preset.adds ? presenceOf(draft, preset) === "present" : presets.findLast((one) => !one.preset.adds)?.preset.id === preset.id);

// choosePreset fills the draft with a preset. It does nothing if the preset already fills it.
/** @param {Filling} preset */
export function choosePreset(preset) {
  const { form } = state;
  if (form.busy || (!preset.adds && isChosen(form, preset))) return;
  edit((draft) => Object.assign(draft, withPreset(form, preset)));
  update((s) => (s.form = { ...s.form, presets: [...form.presets, { preset, former: form.draft }] }));
}

// undoPreset restores the draft from before the last preset.
export function undoPreset() {
  const { presets, busy } = state.form, { preset, former } = presets.at(-1);
  if (busy) return;
  edit((draft) => Object.assign(draft, former), `preset-${preset.id}`);
  update((s) => (s.form = { ...s.form, presets: presets.slice(0, -1) }));
}

/** @param {number} index @param {string} role */
export function addRole(index, role) {
  const [first] = Object.keys(state.form.draft.limits[index].texts);
  edit((draft) => {
    const limit = draft.limits[index];
    limit.roles.push(draftRole(limit.source, role));
    delete draft.times[role];
  }, `${first === "every" ? "queue" : first}-${index}-${role}`);
}

/** @param {number} index @param {number} row */
export function removeRole(index, row) {
  edit((draft) => {
    const [{ role }] = draft.limits[index].roles.splice(row, 1);
    delete draft.times[role];
  }, `role-${index}`);
}

/** @param {string} role @param {boolean} isExempt */
export function setExempt(role, isExempt) {
  const roles = rolesOf(state.form.policy);
  edit((draft) => (draft.exempt = roles.filter((other) => (other === role ? isExempt : draft.exempt.includes(other)))));
}

/** @param {string} kind @param {boolean} isExempt */
export function setExemptMessages(kind, isExempt) {
  const kinds = kindsOf(state.form.policy);
  edit((draft) => (draft.exemptMessages = kinds.filter((other) => (other === kind ? isExempt : draft.exemptMessages.includes(other)))));
}

/** @param {number} index @param {Partial<Rung>} change */
export function setRung(index, change) {
  edit((draft) => Object.assign(draft.rungs[index], change));
}

export function addRung() {
  const place = state.form.draft.rungs.length;
  edit((draft) => draft.rungs.push({ action: "timeout", length: usualTimeout() }), `rung-${place}-action`);
}

/** @param {number} index */
export function removeRung(index) {
  edit((draft) => draft.rungs.splice(index, 1), "add-rung");
}

// moveRung moves a rung up or down; step is -1 or 1. The focus stays on the pressed button until
// the rung reaches an end of the list.
/** @param {number} index @param {number} step */
export function moveRung(index, step) {
  const to = index + step;
  const isAtEnd = to === 0 || to === state.form.draft.rungs.length - 1;
  edit(({ rungs }) => rungs.splice(to, 0, ...rungs.splice(index, 1)), isAtEnd ? `rung-${to}-action` : `rung-${to}-${step < 0 ? "up" : "down"}`);
}
