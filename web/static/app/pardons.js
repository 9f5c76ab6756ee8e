// Pardoning throttled messages, wherever their entries are shown.
//
// state.pardons has, by the ID of each entry pardoned here, {busy, problem, saved}: busy while chatguard hasn't answered, problem what it refused,
// saved whether a restart leaves it so.

import { pardon } from "./amends.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

// forgive pardons an entry, and calls then once that holds.
export async function forgive(entry, then = () => {}) {
  if (state.pardons[entry]?.busy) return;
  set(entry, { busy: true, problem: "", saved: true });
  try {
    const { saved } = await pardon(entry);
    set(entry, { busy: false, problem: "", saved });
    then();
  } catch (problem) {
    if (!ifSignedOut(problem)) set(entry, { busy: false, problem: problem.message, saved: true });
  }
}

function set(entry, pardoned) {
  update((s) => (s.pardons = { ...s.pardons, [entry]: pardoned }));
}
