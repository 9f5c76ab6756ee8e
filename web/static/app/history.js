// Earlier limits of the channel, and how those in force differ from the configuration file: fetching that.
//
// state.history is {etag, revisions, differences, problem, copied}: etag is that of the policy that it was fetched under.

import { request } from "./api.js";
import { inOrder } from "./in-order.js";
import { policyAddress } from "./policy.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

const asked = inOrder(); // each time that it is fetched

export async function loadHistory() {
  const { channel, form } = state;
  const isNews = asked();
  const keep = (history) => isNews() && channel === state.channel && update((s) => (s.history = { ...s.history, problem: "", copied: "", ...history }));
  try {
    const [past, file] = await Promise.all([request("GET", policyAddress() + "/revisions"), request("GET", policyAddress() + "/differences")]);
    keep({ etag: form.etag, revisions: past.body.revisions, differences: file.body.changes });
  } catch (problem) {
    if (!ifSignedOut(problem)) keep({ problem: problem.message });
  }
}

// exportAddress is where a browser gets the limits in force as a file.
export const exportAddress = () => `api/v1${policyAddress()}/export`;

// copyExport puts that file's text on the clipboard.
export async function copyExport() {
  const say = (copied) => update((s) => (s.history = { ...s.history, copied }));
  try {
    const answer = await fetch(exportAddress());
    if (!answer.ok) throw new Error(answer.statusText);
    await navigator.clipboard.writeText(await answer.text());
    say("Copied.");
  } catch {
    say("That couldn’t be copied: take the link."); // browsers allow it only where nobody listens in
  }
}
