// The audit: who changed what. See records.js; of its own it has {revisions}: those of the policy by number, null before they are known.

import { request } from "./api.js";
import { begin, change, loadMore } from "./records.js";
import { ifSignedOut } from "./session.js";

// open begins with the newest changes that the address bar asks for.
export async function open() {
  const audit = begin("audit", { revisions: null });
  await Promise.all([loadMore("audit"), loadRevisions(audit)]);
}

async function loadRevisions(audit) {
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(audit.channel)}/policy/revisions`);
    change("audit", audit, { revisions: new Map(body.revisions.map((revision) => [revision.number, revision])) });
  } catch (problem) {
    ifSignedOut(problem); // a change of the limits is told by its number then
  }
}
