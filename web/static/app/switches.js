// The channel's switches, pause and raid mode: pressing them. How they stand comes with the status, whoever has pressed them.
//
// state.turned has, by the name of each switch pressed here, {busy, problem, unsavedAt}: busy while chatguard hasn't answered, problem what it
// refused, unsavedAt when it answered that a restart would undo it, ms; 0 where it wouldn't.

import { request } from "./api.js";
import { ifSignedOut } from "./session.js";
import { now, state, update } from "./state.js";

const requests = {
  pause: { on: ["POST", "pause"], off: ["POST", "resume"] },
  raid: { on: ["POST", "raid"], off: ["DELETE", "raid"] },
};

// turn turns a switch "on" or "off".
export async function turn(name, to) {
  if (state.turned[name]?.busy) return;
  const pressed = { busy: true, problem: "", unsavedAt: 0 };
  set(name, pressed);
  const answered = (news) => state.turned[name] === pressed && set(name, { ...pressed, busy: false, ...news }); // else another channel is shown
  const [method, path] = requests[name][to];
  try {
    const { body } = await request(method, `/channels/${encodeURIComponent(state.channel)}/${path}`);
    answered({ unsavedAt: body.saved ? 0 : now() });
  } catch (problem) {
    if (!ifSignedOut(problem)) answered({ problem: problem.message });
  }
}

function set(name, pressed) {
  update((s) => (s.turned = { ...s.turned, [name]: pressed }));
}

// isUnsaved reports whether a restart would undo what a switch was turned to here.
export function isUnsaved({ unsavedAt }, database) {
  if (!unsavedAt) return false;
  return database.state !== "ok" || unsavedAt >= now() - (database.lag_seconds ?? 0) * 1000;
}

// closeProblems hides what has been read.
export function closeProblems() {
  for (const [name, pressed] of Object.entries(state.turned)) if (pressed.problem) set(name, { ...pressed, problem: "" });
}
