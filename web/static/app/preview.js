// What limits would have done over the recorded hours: asking chatguard for it.
//
// state.preview is {busy, result, isChange, problem}: result is the last answer, isChange whether it is about a change or only about the limits in
// force, busy whether another is on its way.

import { request } from "./api.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

const pause = 300; // so long nothing is typed before it is counted, ms

// ask asks for what a policy would have done, and returns what takes that back.
export function ask(policy, isChange) {
  const given = new AbortController();
  const timer = setTimeout(() => count(policy, isChange, given.signal), isChange ? pause : 0);
  update((s) => (s.preview = { ...s.preview, busy: true, problem: "" }));
  return () => {
    clearTimeout(timer);
    given.abort();
  };
}

async function count(policy, isChange, signal) {
  const address = `/channels/${encodeURIComponent(state.channel)}/preview`;
  try {
    const { body: result } = await request("POST", address, { body: { policy }, signal });
    if (!signal.aborted) update((s) => (s.preview = { busy: false, result, isChange, problem: "" }));
  } catch (problem) {
    if (!signal.aborted && !ifSignedOut(problem)) update((s) => (s.preview = { ...s.preview, busy: false, problem: problem.message }));
  }
}
