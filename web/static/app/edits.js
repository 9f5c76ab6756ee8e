// What a moderator does to the draft, beside typing: adding, removing and moving. Each says which field the focus goes to.

import { draftRole, newLimit } from "./draft.js";
import { edit } from "./policy.js";
import { roles } from "./roles.js";
import { state } from "./state.js";

export const setField = (index, key, value) => edit((draft) => (draft.limits[index][key] = value));
export const setText = (index, field, text) => edit((draft) => (draft.limits[index].texts[field] = text));
export const setRoleText = (index, row, field, text) => edit((draft) => (draft.limits[index].roles[row].texts[field] = text));

export function addLimit(algorithm) {
  const place = state.form.draft.limits.length;
  edit((draft) => draft.limits.push(newLimit(algorithm, draft.limits)), `name-${place}`);
}

// removeLimit marks a limit, so that it can be kept after all; one that isn't saved yet just goes.
export function removeLimit(index) {
  const { isNew } = state.form.draft.limits[index];
  if (isNew) edit((draft) => draft.limits.splice(index, 1), "add-limit");
  else edit((draft) => (draft.limits[index].isRemoved = true), `keep-${index}`);
}

export function keepLimit(index) {
  edit((draft) => (draft.limits[index].isRemoved = false), `remove-${index}`);
}

export function addRole(index, role) {
  const [first] = Object.keys(state.form.draft.limits[index].texts);
  edit((draft) => {
    const limit = draft.limits[index];
    limit.roles.push(draftRole(limit.source, role));
  }, `${first === "every" ? "queue" : first}-${index}-${role}`);
}

export function removeRole(index, row) {
  edit((draft) => draft.limits[index].roles.splice(row, 1), `role-${index}`);
}

export function setExempt(role, isExempt) {
  edit((draft) => (draft.exempt = roles.filter((other) => (other === role ? isExempt : draft.exempt.includes(other)))));
}

export function setRung(index, change) {
  edit((draft) => Object.assign(draft.rungs[index], change));
}

export function addRung() {
  const place = state.form.draft.rungs.length;
  edit((draft) => draft.rungs.push({ action: "timeout", length: "600" }), `rung-${place}-action`);
}

export function removeRung(index) {
  edit((draft) => draft.rungs.splice(index, 1), "add-rung");
}

// moveRung moves a rung up or down; step is -1 or 1. The focus stays on its button while that leads anywhere.
export function moveRung(index, step) {
  const to = index + step;
  const isAtEnd = to === 0 || to === state.form.draft.rungs.length - 1;
  edit(({ rungs }) => rungs.splice(to, 0, ...rungs.splice(index, 1)), isAtEnd ? `rung-${to}-action` : `rung-${to}-${step < 0 ? "up" : "down"}`);
}
