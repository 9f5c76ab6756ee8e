// The limits being edited: loading, editing, checking, saving, undoing.
//
// state.form is {policy, etag, revision, draft, errors, problem, busy, conflict, saved}: policy and etag are what was loaded, draft what
// has been typed ({mode, limits: [texts by field]}), errors what is wrong with it by field, problem what chatguard refused, conflict the
// change of somebody else's that came in between, made the revision made here last and the policy before it. The revision is null where there is
// none, and undefined where chatguard can't tell.

import { algorithmOf, amount } from "./algorithms.js";
import { request } from "./api.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";
import { seconds } from "./time.js";

const address = () => `/channels/${encodeURIComponent(state.channel)}/policy`;

// load fetches the limits in force and forgets what has been typed.
export async function load() {
  const channel = state.channel;
  try {
    const [policy, revision] = await Promise.all([request("GET", address()), lastRevision()]);
    if (channel !== state.channel) return;
    update((s) => {
      s.form = fresh(policy.body, policy.etag, revision, null);
    });
  } catch (problem) {
    if (!ifSignedOut(problem) && channel === state.channel) update((s) => (s.form = { ...(s.form ?? fresh(null, "", null, null)), problem: problem.message }));
  }
}

// lastRevision fetches the last change. The limits can be changed without it, so a database in trouble is no problem here.
async function lastRevision() {
  try {
    const { body } = await request("GET", address() + "/revisions");
    return body.revisions[0] ?? null;
  } catch (problem) {
    if (problem.status !== 503) throw problem;
  }
}

function fresh(policy, etag, revision, made) {
  return { policy, etag, revision, draft: policy && draftOf(policy), errors: {}, problem: "", busy: false, conflict: null, made };
}

function draftOf(policy) {
  return { mode: policy.mode, limits: policy.limits.map(textsOf) };
}

// textsOf writes the numbers of a limit as they are edited.
function textsOf(limit) {
  const texts = {};
  for (const [name, { isLength, least }] of Object.entries(algorithmOf(limit).fields)) {
    const value = limit[name] ?? (least === 0 ? 0 : "");
    texts[name] = String(isLength ? seconds(value) : value);
  }
  return texts;
}

// isFixed reports whether a limit can't be changed in a channel, because it counts in all of them.
export function isFixed(limit) {
  return limit.per === "user-everywhere";
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

export function isDirty(form) {
  return JSON.stringify(form.draft) !== JSON.stringify(draftOf(form.policy));
}

export function setMode(mode) {
  edit((draft) => (draft.mode = mode));
}

export function setField(index, field, text) {
  edit((draft) => (draft.limits[index][field] = text));
}

function edit(change) {
  if (state.form.busy) return; // the answer replaces the draft
  const draft = structuredClone(state.form.draft);
  change(draft);
  update((s) => (s.form = { ...s.form, draft, errors: check(s.form.policy, draft), problem: "" }));
}

export function discard() {
  if (state.form.conflict) return load();
  update((s) => (s.form = fresh(s.form.policy, s.form.etag, s.form.revision, s.form.made)));
}

// closeNotes hides what has been read.
export function closeNotes() {
  if (state.form) update((s) => (s.form = { ...s.form, made: null, problem: "" }));
}

// check returns what is wrong with a draft, by "index.field". What was loaded is right.
function check(policy, draft) {
  const errors = {};
  policy.limits.forEach((limit, i) => {
    const known = textsOf(limit);
    for (const [name, field] of Object.entries(algorithmOf(limit).fields)) {
      const text = draft.limits[i][name];
      const error = text !== known[name] && wrong(field, text);
      if (error) errors[`${i}.${name}`] = error;
    }
  });
  return errors;
}

// wrong says what is wrong with the text of a field; empty where nothing is.
function wrong({ isLength, least, most }, text) {
  const number = Number(text);
  const isNumber = isLength ? /^\d*\.?\d+$/ : /^\d+$/;
  if (!isNumber.test(text.trim()) || number < least) return `Write a ${isLength ? "number of seconds" : "whole number"}, ${least} or more.`;
  return number > most ? `${amount(most)} is the most.` : "";
}

// policyOf is the policy that a draft asks for. What hasn't been typed stays as it was loaded, to the letter.
function policyOf({ policy, draft }) {
  const limits = policy.limits.map((limit, i) => {
    const known = textsOf(limit);
    const changed = { ...limit };
    for (const [name, { isLength }] of Object.entries(algorithmOf(limit).fields)) {
      const text = draft.limits[i][name];
      if (text !== known[name]) changed[name] = isLength ? text.trim() + "s" : Number(text);
    }
    return changed;
  });
  return { ...policy, mode: draft.mode, limits };
}

export function save() {
  const form = state.form;
  if (form.busy || !isDirty(form) || Object.keys(form.errors).length > 0) return;
  return put(policyOf(form));
}

// undo puts back what the last save replaced.
export function undo() {
  return put(state.form.made.former);
}

async function put(policy) {
  const { form, channel } = state;
  const isShown = () => channel === state.channel && state.form?.busy; // nobody has gone to another channel meanwhile
  update((s) => (s.form = { ...form, busy: true, problem: "" }));
  try {
    const { body: revision, etag } = await request("PUT", address(), { body: policy, ifMatch: form.etag });
    if (!isShown()) return;
    update((s) => (s.form = fresh(revision.policy, etag, revision, { revision, former: form.policy })));
  } catch (problem) {
    if (ifSignedOut(problem) || !isShown()) return;
    const conflict = problem.status === 412 ? {} : null;
    update((s) => (s.form = { ...form, busy: false, conflict, problem: conflict ? "" : problem.message }));
  }
}
