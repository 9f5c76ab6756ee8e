// @ts-check
// The form of the limits: loading, editing, checking, saving and undoing. A form with unsaved
// changes is kept while another channel is shown.

import { loadTexts } from "../../text/text.js";
import { loadAlgorithms } from "../core/algorithms.js";
import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
import { errorsOf } from "./draft-errors.js";
import { draftOf, isDirty, policyOf } from "./draft.js";
import { fieldOf } from "./mistake.js";
import { followTimes, learnTimes } from "./times.js";
/** @import { Mistake } from "../core/api.js" */
/** @import { State } from "../core/state.js" */
/** @import { Conflict } from "./conflict.js" */
/** @import { Draft } from "./draft.js" */
/** @import { Filling } from "./presets.js" */
/** @import { Tried } from "./tried.js" */

/**
 * @typedef {Pick<Api.putChannelsPolicy, "author" | "at" | "changes"> & {saved?: boolean}} Revision
 */

/** @typedef {"kind" | "name"} Part a part of a limit's card that is folded away at first */

/**
 * Form is the limits being edited.
 * @typedef {object} Form
 * @property {Api.Policy} policy as it was loaded
 * @property {string} etag of the policy loaded
 * @property {Revision | null | undefined} revision the last change; null if there is none,
 *   undefined if it could not be loaded
 * @property {Draft} draft what has been typed
 * @property {Record<string, string>} errors what is wrong with the draft, by field
 * @property {string} problem why loading or saving failed
 * @property {boolean} busy chatguard hasn't answered yet
 * @property {Conflict | null} conflict someone else's change in the meantime
 * @property {{revision: Revision, former: Api.Policy} | null} made the last revision saved on this
 *   page, and the policy before it
 * @property {{preset: Filling, former: Draft}[]} presets the presets chosen since the last edit,
 *   each with the draft before it
 * @property {Tried | null} tried what became of the Lab's numbers in the address
 * @property {{id: string} | null} focus the element that gets the focus after the last edit
 * @property {Record<string, Part[]>} open the parts of limits' cards that are unfolded, by the
 *   limit's ID
 */

export const policyAddress = () => `/channels/${encodeURIComponent(state.channel)}/policy`;

const asked = inOrder(); // to ignore outdated answers

// load fetches the limits in force and drops unsaved edits. It may run before the page is loaded,
// so it loads the texts of numbers, too.
export async function load() {
  const channel = state.channel;
  const isNews = asked();
  try {
    const [policy, revision] = await Promise.all([request("GET", policyAddress()), lastRevision(), loadAlgorithms(), loadTexts("rules")]);
    if (channel !== state.channel || (!isNews() && state.form?.policy)) return;
    update((s) => {
      s.form = formOf(policy.body, policy.etag, revision, null, s.form);
    });
  } catch (problem) {
    if (!ifSignedOut(problem) && isNews() && channel === state.channel) update((s) => (s.form = { ...(s.form ?? formOf(null, "", null, null, null)), problem: problem.message }));
  }
}

// lastRevision fetches the last change. It returns undefined if the database is failing, because
// the limits can be edited without knowing the last change.
export async function lastRevision() {
  try {
    const { body } = await request("GET", policyAddress() + "/revisions?n=1");
    return body.revisions[0] ?? null;
  } catch (problem) {
    if (problem.status !== 503) throw problem;
  }
}

// formOf returns a form without edits. What was unfolded in the former one stays so.
/**
 * @param {Api.Policy | null} policy
 * @param {string} etag
 * @param {Revision | null | undefined} revision
 * @param {Form["made"]} made
 * @param {Form | null} former
 * @returns {Form}
 */
export function formOf(policy, etag, revision, made, former) {
  const draft = policy && draftOf(policy);
  if (draft) learnTimes(draft);
  return { policy, etag, revision, draft, errors: {}, problem: "", busy: false, conflict: null, made, presets: [], tried: null, focus: null, open: former?.draft && draft ? stillOpen(former, draft) : {} };
}

// stillOpen returns what is unfolded in another draft: what is unfolded in the limits of the same
// names.
/** @param {Form} former @param {Draft} draft @returns {Form["open"]} */
function stillOpen({ open, draft: { limits } }, draft) {
  return Object.fromEntries(draft.limits.map(({ id, name }) => [id, open[limits.find((limit) => !limit.isRemoved && limit.name.trim() === name)?.id] ?? []]));
}

// unfold shows or hides a part of a limit's card.
/** @param {string} id @param {Part} part @param {boolean} is */
export function unfold(id, part, is) {
  const { form } = state, others = (form.open[id] ?? []).filter((other) => other !== part);
  update((s) => (s.form = { ...form, open: { ...form.open, [id]: is ? [...others, part] : others } }));
}

// policyChanged stores the policy in force. If the form has edits, it gets a conflict. Otherwise
// the form is loaded again.
/** @param {State["policy"] | undefined} policy */
export function policyChanged(policy) {
  if (!policy) return;
  update((s) => (s.policy = policy));
  const form = state.form;
  if (!form || form.busy || form.etag === policy.etag) return;
  if (!form.policy || !isDirty(form)) return load();
  update((s) => (s.form = { ...form, conflict: policy.revision ?? form.conflict ?? {} }));
}

// isUnsaved reports whether a restart would undo the limits in force. The live feed decides as soon
// as it has announced the limits saved here; until then, the answer to the save decides.
/** @param {State} of */
export function isUnsaved({ form, policy }) {
  if (policy && (!form?.made || policy.etag === form.etag)) return !policy.saved;
  return form?.made?.revision.saved === false;
}

// edit changes the draft. focus is the ID of the field that gets the focus, if it moves.
/** @param {(draft: Draft) => unknown} change @param {string} [focus] */
export function edit(change, focus) {
  if (state.form.busy) return; // the answer replaces the draft
  const draft = structuredClone(state.form.draft);
  change(draft);
  followTimes(draft);
  learnTimes(draft);
  update((s) => (s.form = { ...s.form, draft, errors: errorsOf({ policy: s.form.policy, draft }), problem: "", presets: [], focus: focus ? { id: focus } : null }));
}

export function discard() {
  const { form } = state;
  if (form.busy || !isDirty(form)) return;
  if (form.conflict) return load();
  update((s) => (s.form = { ...formOf(form.policy, form.etag, form.revision, form.made, null), open: form.open }));
}

// closeNotes hides the notes about the last save and the Lab's numbers.
export function closeNotes() {
  if (state.form) update((s) => (s.form = { ...s.form, made: null, tried: null, problem: "" }));
}

export function save() {
  const form = state.form;
  if (form.conflict || !isDirty(form) || Object.keys(form.errors).length > 0) return;
  return send("PUT", "", policyOf(form), (mistake) => fieldOf(form.draft, mistake));
}

// undo restores the policy that the last save replaced.
export function undo() {
  return send("PUT", "", state.form.made.former);
}

// revert restores a revision; 0 is the configuration file's policy.
/** @param {number} revision */
export function revert(revision) {
  return send("POST", "/revert", { revision });
}

// send asks chatguard to replace the policy that was loaded. If chatguard refuses a value, the
// field with the ID that place returns is marked.
/** @param {string} method @param {string} path @param {unknown} body @param {(mistake: Mistake) => string | undefined} [place] */
async function send(method, path, body, place) {
  const { form, channel } = state;
  if (form.busy) return;
  const address = policyAddress();
  const isShown = () => channel === state.channel && state.form?.busy; // the same channel is still shown
  update((s) => (s.form = { ...form, busy: true, problem: "" }));
  try {
    const { body: revision, etag } = await request(method, address + path, { body, ifMatch: form.etag });
    const policy = revision.changes ? { body: revision.policy, etag } : await request("GET", address); // a return to the file's limits is answered without the policy
    if (isShown()) update((s) => (s.form = formOf(policy.body, policy.etag, revision, { revision, former: form.policy }, s.form)));
  } catch (problem) {
    if (ifSignedOut(problem) || !isShown()) return;
    const conflict = problem.status === 412 ? {} : null;
    const id = problem.mistake && place?.(problem.mistake);
    const marked = id ? { errors: { [id]: problem.mistake.problem }, focus: { id } } : {};
    update((s) => (s.form = { ...form, busy: false, conflict, problem: conflict || id ? "" : problem.message, ...marked }));
  }
}

/** @param {Form | null} form */
const isTyped = (form) => Boolean(form?.policy) && !form.busy && isDirty(form);

// formsFor returns the {form, drafts} of the state when another channel is shown. form is null if
// that channel has no unsaved form.
/** @param {string} to */
export function formsFor(to) {
  const { channel, form, drafts } = state;
  const { [to]: kept = null, ...others } = drafts;
  return { form: kept, drafts: channel && isTyped(form) ? { ...others, [channel]: { ...form, focus: null } } : others };
}

// hasDraft reports whether closing the page would lose edits.
export const hasDraft = () => isTyped(state.form) || Object.keys(state.drafts).length > 0;
