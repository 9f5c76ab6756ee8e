// @ts-check
// A conflicting change by someone else: showing it beside the draft, and combining the two.

import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
import { differences, merge } from "./differences.js";
import { errorsOf } from "./draft-errors.js";
import { draftTowards, policyOf } from "./draft.js";
import { learnTimes } from "./times.js";
import { formOf, lastRevision, policyAddress } from "./form.js";
/** @import { Form, Revision } from "./form.js" */

/**
 * Conflict has only the author until the moderator compares both sides.
 * @typedef {object} Conflict
 * @property {string} [author]
 * @property {Api.Change[]} [theirs] the changes that the author made
 * @property {Api.Policy} [policy] the policy in force now
 * @property {string} [etag]
 * @property {Revision | null} [revision] the last change
 * @property {string} [problem]
 */

// mine returns the draft's changes.
/** @param {Form} form */
export const mine = (form) => differences(form.policy, policyOf(form));

// compare fetches the limits in force.
export async function compare() {
  const { form } = state;
  /** @param {Partial<Conflict>} news */
  const keep = (news) => state.form?.policy === form.policy && update((s) => (s.form = { ...s.form, conflict: { ...s.form.conflict, problem: "", ...news } }));
  try {
    const [{ body: policy, etag }, revision] = await Promise.all([request("GET", policyAddress()), lastRevision()]);
    const author = revision?.author ?? state.form?.conflict?.author; // a feed's snapshot doesn't name the author
    keep({ policy, etag, revision, author, theirs: differences(form.policy, policy) });
  } catch (problem) {
    if (!ifSignedOut(problem)) keep({ problem: problem.message });
  }
}

// combine applies the draft's changes to the limits in force, without saving. If both sides changed
// the same key, the draft wins.
export function combine() {
  const { form } = state;
  const { policy, etag, revision } = form.conflict;
  const combined = formOf(policy, etag, revision, null, form);
  combined.draft = draftTowards(policy, merge(policy, mine(form)));
  learnTimes(combined.draft);
  update((s) => (s.form = { ...combined, errors: errorsOf(combined) }));
}
