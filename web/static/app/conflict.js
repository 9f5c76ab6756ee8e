// Somebody else's change that came in between: seeing it beside one's own, and putting both together.
//
// state.form.conflict is {author, theirs, policy, etag, revision, problem}: theirs are the changes that they made, policy and etag what is in force now,
// and revision who changed it last; only once somebody has asked to see them.

import { request } from "./api.js";
import { differences, merge } from "./differences.js";
import { draftOf, policyOf } from "./draft.js";
import { errorsOf } from "./draft-errors.js";
import { formOf, lastRevision, policyAddress } from "./policy.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

// mine are the changes that the draft makes.
export const mine = (form) => differences(form.policy, policyOf(form));

// compare fetches the limits in force.
export async function compare() {
  const { form } = state;
  const keep = (news) => state.form?.policy === form.policy && update((s) => (s.form = { ...s.form, conflict: { ...s.form.conflict, problem: "", ...news } }));
  try {
    const [{ body: policy, etag }, revision] = await Promise.all([request("GET", policyAddress()), lastRevision()]);
    const author = revision?.author ?? state.form?.conflict?.author; // the feed doesn't tell whoever has just come
    keep({ policy, etag, revision, author, theirs: differences(form.policy, policy) });
  } catch (problem) {
    if (!ifSignedOut(problem)) keep({ problem: problem.message });
  }
}

// combine goes on with the limits in force, and one's own changes in them, which are not saved by that. Where both have changed the same, one's own
// count.
export function combine() {
  const { form } = state;
  const { policy, etag, revision } = form.conflict;
  const combined = formOf(policy, etag, revision, null);
  combined.draft = draftOf(merge(policy, mine(form)));
  update((s) => (s.form = { ...combined, errors: errorsOf(combined) }));
}
