// The dashboard's state, all of it. Views are functions of it; whoever changes it does so in update.

export const state = {
  session: "unknown", // "unknown", "out", "in"
  signIn: { busy: false, error: "", why: "", mounted: false }, // why somebody who was signed in is no more; mounted as in me
  me: { name: "", access: "" }, // who is signed in; access is "view", "moderate" or "own"; mounted where that is done on another site
  route: "now", // a key of pages in route.js
  query: {}, // what the address bar has behind the question mark, beside the channel
  channels: [], // {id, login, paused_by, raid_until}
  wanted: "", // the ID of the one that the address bar names; empty means the first
  channel: null, // the ID of the one shown; empty while there is none to show, null before that is known
  feed: { state: "connecting", lastFrame: 0 }, // "connecting", "open", "lost"; when the last frame came, ms; why, where chatguard says why it is lost
  clockLead: 0, // how far chatguard's clock is ahead of the browser's, ms
  status: null, // as the live feed sends it
  policy: null, // {etag, mode, in_force, saved}: mode is as stated, in_force with a pause laid over it
  users: new Map(), // throttled users by ID, those throttled first at the front
  held: null, // the row of theirs that somebody is at, see held-row.js
  amended: {}, // how acting on users there went, see amending.js
  form: null, // the limits being edited, see policy.js
  drafts: {}, // those of channels that aren't shown, see drafts.js
  rates: null, // how busy the channel was, see rates.js
  ratesSpan: "hour", // how much of that is shown: the last "hour" or "day"
  preview: null, // what the limits being edited would have done, see preview.js
  overrides: null, // users with numbers of their own, see limit-overrides.js
  history: null, // revisions of the policy, and how it differs from the file, see history.js
  people: null, // users found, and the one shown, see people.js
  journal: null, // entries, see journal.js
  audit: null, // changes, see audit.js
  entry: null, // the journal's entry that is shown whole
  pardons: {}, // how pardoning entries here went, see pardons.js
  turned: {}, // how pressing the channel's switches here went, see switches.js
  problem: "", // why signing out has failed
  focus: "", // the ID of what gets the keyboard's focus once it is drawn
  announcement: "", // what a screen reader says next
};

let render = () => {};
let scheduled = false;
let drawnAt = 0; // when the drawing under way began, by the browser's clock, ms; 0 between drawings

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
    drawnAt = Date.now();
    try {
      render(state);
    } finally {
      drawnAt = 0;
    }
  });
}

// isStanding reports whether a user is throttled still, even where chatguard hasn't said yet that their time is over.
export function isStanding({ leaving, never, may_speak_at: at }) {
  return !leaving && (never || Date.parse(at) > asOf());
}

// standing counts the users shown: those who are throttled, and those who would have been, had their last message not only been observed.
export function standing() {
  const staying = [...state.users.values()].filter(isStanding);
  const would = staying.filter((user) => user.observed).length;
  return { throttled: staying.length - would, would };
}

// mayModerate reports whether whoever is signed in may change anything.
export function mayModerate() {
  return state.me.access === "moderate" || state.me.access === "own";
}

// shownID is a user's ID as people see it. What stands before those of users whom servers of other chats ask about is for addresses only.
export const shownID = (id) => (state.me.mounted ? id : id.replace(/^check:/, ""));

// configured is what the limits come from that nobody has changed here: its name, and a short one.
export function configured() {
  return state.me.mounted ? { name: "server’s code", short: "code" } : { name: "configuration file", short: "file" };
}

// now is the time by chatguard's clock, ms. While update draws the state it stands still, so that one part doesn't say what another knows to be over.
export function now() {
  return (drawnAt || Date.now()) + state.clockLead;
}

// asOf is the time that who is throttled is known for, ms: now, and while the connection is lost, when it told of anything last.
export function asOf() {
  return state.feed.state === "lost" ? state.feed.lastFrame + state.clockLead : now();
}
