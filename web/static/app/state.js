// The dashboard's state, all of it. Views are functions of it; whoever changes it does so in update.

export const state = {
  session: "unknown", // "unknown", "out", "in"
  signIn: { busy: false, error: "" },
  route: "now", // "now", "limits"
  channels: [], // {id, login, paused_by, raid_until}
  wanted: "", // the ID of the one that the address bar names; empty means the first
  channel: null, // the ID of the one shown; empty while there is none to show, null before that is known
  feed: { state: "connecting", lastFrame: 0 }, // "connecting", "open", "lost"; when the last frame came, ms
  clockLead: 0, // how far chatguard's clock is ahead of the browser's, ms
  status: null, // as the live feed sends it
  policy: null, // {etag, mode, in_force, saved}: mode is as stated, in_force with a pause laid over it
  users: new Map(), // throttled users by ID, those throttled first at the front
  form: null, // the limits being edited, see policy.js
  turned: {}, // how pressing the channel's switches here went, see switches.js
  problem: "", // why signing out has failed
  announcement: "", // what a screen reader says next
};

let render = () => {};
let scheduled = false;

// onChange names the function that draws the state. It is called once per animation frame at most.
export function onChange(draw) {
  render = draw;
}

export function update(change) {
  change(state);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    render(state);
  });
}

// standing counts the users shown: those who are throttled, and those who would have been, had their last message not only been observed.
export function standing() {
  const staying = [...state.users.values()].filter((user) => !user.leaving);
  const would = staying.filter((user) => user.observed).length;
  return { throttled: staying.length - would, would };
}

// now is the time by chatguard's clock, ms.
export function now() {
  return Date.now() + state.clockLead;
}
