// The limits being edited: loading, editing, checking, saving, undoing.
//
// state.form is {policy, etag, revision, draft, errors, problem, busy, conflict, made, focus}: policy and etag are what was loaded, draft what has
// been typed (see draft.js), errors what is wrong with it by field, problem what chatguard refused, conflict the change of somebody else's that came
// in between (see conflict.js), made the revision made here last and the policy before it, focus the field that the last edit leads to, by its ID.
// The revision is null where there is none, and undefined where chatguard can't tell.

import { request } from "./api.js";
import { errorsOf } from "./draft-errors.js";
import { draftOf, isDirty, policyOf } from "./draft.js";
import { inOrder } from "./in-order.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

export const policyAddress = () => `/channels/${encodeURIComponent(state.channel)}/policy`;

const asked = inOrder(); // each time that it is fetched

// load fetches the limits in force and forgets what has been typed.
export async function load() {
  const channel = state.channel;
  const isNews = asked();
  try {
    const [policy, revision] = await Promise.all([request("GET", policyAddress()), lastRevision()]);
    if (channel !== state.channel || (!isNews() && state.form?.policy)) return;
    update((s) => {
      s.form = formOf(policy.body, policy.etag, revision, null);
    });
  } catch (problem) {
    if (!ifSignedOut(problem) && isNews() && channel === state.channel) update((s) => (s.form = { ...(s.form ?? formOf(null, "", null, null)), problem: problem.message }));
  }
}

// lastRevision fetches the last change. The limits can be changed without it, so a database in trouble is no problem here.
export async function lastRevision() {
  try {
    const { body } = await request("GET", policyAddress() + "/revisions");
    return body.revisions[0] ?? null;
  } catch (problem) {
    if (problem.status !== 503) throw problem;
  }
}

// formOf is a form in which nothing has been typed.
export function formOf(policy, etag, revision, made) {
  return { policy, etag, revision, draft: policy && draftOf(policy), errors: {}, problem: "", busy: false, conflict: null, made, focus: null };
}

// policyChanged takes note of the policy in force. A form without changes of its own follows it.
export function policyChanged(policy) {
  if (!policy) return;
  update((s) => (s.policy = policy));
  const form = state.form;
  if (!form || form.busy || form.etag === policy.etag) return;
  if (!form.policy || !isDirty(form)) return load();
  update((s) => (s.form = { ...form, conflict: policy.revision ?? form.conflict ?? {} }));
}

// isUnsaved reports whether a restart would undo the limits in force. The live feed knows best, once it has heard of them.
export function isUnsaved({ form, policy }) {
  if (policy && (!form?.made || policy.etag === form.etag)) return !policy.saved;
  return form?.made?.revision.saved === false;
}

// edit changes the draft. focus is the ID of the field that it leads to, where that isn't the one it came from.
export function edit(change, focus) {
  if (state.form.busy) return; // the answer replaces the draft
  const draft = structuredClone(state.form.draft);
  change(draft);
  update((s) => (s.form = { ...s.form, draft, errors: errorsOf({ policy: s.form.policy, draft }), problem: "", focus: focus ? { id: focus } : null }));
}

export function discard() {
  const { form } = state;
  if (form.busy || !isDirty(form)) return;
  if (form.conflict) return load();
  update((s) => (s.form = formOf(form.policy, form.etag, form.revision, form.made)));
}

// closeNotes hides what has been read.
export function closeNotes() {
  if (state.form) update((s) => (s.form = { ...s.form, made: null, problem: "" }));
}

export function save() {
  const form = state.form;
  if (form.conflict || !isDirty(form) || Object.keys(form.errors).length > 0) return;
  return send("PUT", "", policyOf(form));
}

// undo puts back what the last save replaced.
export function undo() {
  return send("PUT", "", state.form.made.former);
}

// revert goes back to a revision; 0 is the configuration file's policy.
export function revert(revision) {
  return send("POST", "/revert", { revision });
}

// send asks for another policy in place of the one loaded.
async function send(method, path, body) {
  const { form, channel } = state;
  if (form.busy) return;
  const address = policyAddress();
  const isShown = () => channel === state.channel && state.form?.busy; // nobody has gone to another channel meanwhile
  update((s) => (s.form = { ...form, busy: true, problem: "" }));
  try {
    const { body: revision, etag } = await request(method, address + path, { body, ifMatch: form.etag });
    const policy = revision.changes ? { body: revision.policy, etag } : await request("GET", address); // the file's isn't told
    if (isShown()) update((s) => (s.form = formOf(policy.body, policy.etag, revision, { revision, former: form.policy })));
  } catch (problem) {
    if (ifSignedOut(problem) || !isShown()) return;
    const conflict = problem.status === 412 ? {} : null;
    update((s) => (s.form = { ...form, busy: false, conflict, problem: conflict ? "" : problem.message }));
  }
}
