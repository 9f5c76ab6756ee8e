// The live feed: a WebSocket that sends a snapshot, then every change. A lost connection comes back by itself, and goes on where it was.

import { liveAddress, request } from "./api.js";
import { turned } from "./drafts.js";
import { ifSignedOut, shutOut } from "./session.js";
import { load, policyChanged } from "./policy.js";
import { standing, state, update } from "./state.js";

const silence = 5000; // a status comes every second; after so long without one the connection is dead, ms
const longestPause = 8000; // between two attempts, ms
const farewell = 300; // how long a row is seen leaving, ms
const quiet = 3000; // announcements are at least so far apart, ms
const signedOutCode = 4401;
const tooManyCode = 4429; // the reason is a sentence for people
const longPause = 30000; // before another attempt where too many feeds are open, ms

let socket = null;
let feed = ""; // the name of the feed that the state has followed
let seen = 0; // the number of the last frame of it that the state has taken in; 0 is none
let attempts = 0;
let retry = 0;
let announcing = 0;

// choose shows the channel wanted, else the first. Where there is none yet, it opens a feed that tells when there is.
export function choose() {
  const { id } = state.channels.find((c) => c.id === state.wanted) ?? state.channels[0] ?? { id: "" };
  if (id !== state.channel) {
    seen = 0;
    update((s) => {
      Object.assign(s, turned(id));
      s.channel = id;
      s.users = new Map();
      s.status = s.policy = s.preview = s.history = s.overrides = null;
      s.turned = {};
    });
    follow();
  }
  if (id && state.route === "limits" && !state.form) load();
}

// follow opens the feed of the channel shown, in place of any other.
function follow() {
  stop();
  const mine = (socket = new WebSocket(liveAddress(state.channel, feed, seen)));
  mine.onmessage = (event) => mine === socket && receive(JSON.parse(event.data));
  mine.onclose = (event) => mine === socket && lost(event.code, event.reason);
  update((s) => (s.feed = { state: s.feed.state === "lost" ? "lost" : "connecting", lastFrame: s.feed.lastFrame }));
}

// stop closes the feed for good.
export function stop() {
  clearTimeout(retry);
  const old = socket;
  socket = null;
  old?.close();
}

// watch notices a connection that says nothing any more.
export function watch() {
  if (state.feed.state === "open" && Date.now() - state.feed.lastFrame > silence) lost();
}

// retryNow doesn't wait for the next attempt.
export function retryNow() {
  if (state.session === "in" && state.feed.state === "lost") follow();
}

async function lost(code, reason) {
  stop();
  if (code === signedOutCode && !state.me.mounted) return shutOut(); // else the site that we are part of says what to do
  update((s) => {
    if (s.feed.state !== "lost") s.announcement = "The connection to chatguard is lost.";
    s.feed = { ...s.feed, state: "lost", why: code === tooManyCode ? reason : "" };
  });
  const most = code === tooManyCode ? longPause : Math.min(longestPause, 250 * 2 ** attempts++);
  const pause = most * (0.5 + Math.random() / 2);
  retry = setTimeout(async () => {
    try {
      const { body } = await request("GET", "/channels"); // a refused WebSocket doesn't tell why
      update((s) => (s.channels = body.channels));
      if (isGone()) choose();
      else follow();
    } catch (problem) {
      if (!ifSignedOut(problem)) lost();
    }
  }, pause);
}

function receive(frame) {
  seen = frame.seq;
  feed = frame.feed ?? feed; // a snapshot begins another
  attempts = 0;
  update((s) => {
    if (s.feed.state === "lost") s.announcement = "Connected to chatguard again.";
    s.feed = { state: "open", lastFrame: Date.now() };
    s.clockLead = Date.parse(frame.now) - Date.now();
    if (frame.status) s.status = frame.status;
    if (frame.channels) s.channels = frame.channels;
  });
  take[frame.type]?.(frame);
  if (isLate()) choose();
}

// isLate reports whether a channel that the page waits for is there now. Nobody is taken away from a channel they look at without having asked.
function isLate() {
  const { channel, channels, wanted } = state;
  return channel === "" ? channels.length > 0 : channel !== wanted && channels.some((c) => c.id === wanted);
}

// isGone reports whether others are served, and the channel shown no more.
function isGone() {
  return state.channel !== "" && state.channels.length > 0 && state.channels.every((c) => c.id !== state.channel);
}

const take = {
  snapshot(frame) {
    update((s) => {
      s.users = new Map((frame.users ?? []).map((user) => [user.user_id, { ...user, arrived: 0 }]));
    });
    policyChanged(frame.policy);
  },
  throttled(frame) {
    update((s) => {
      for (const user of frame.users ?? []) put(s.users, user);
      for (const id of frame.gone ?? []) leave(s.users, id);
    });
    announce();
  },
  policy(frame) {
    policyChanged(frame.policy);
  },
};

function put(users, user) {
  const known = users.get(user.user_id);
  if (known?.leaving) users.delete(user.user_id); // comes back as somebody new, at the top
  users.set(user.user_id, { ...user, arrived: known && !known.leaving ? known.arrived : Date.now() });
}

function leave(users, id) {
  const user = users.get(id);
  if (!user) return;
  const leaving = { ...user, leaving: true };
  users.set(id, leaving);
  setTimeout(() => update((s) => s.users.get(id) === leaving && s.users.delete(id)), farewell);
}

// announce tells a screen reader how many are throttled, not more often than one can listen to.
function announce() {
  if (announcing) return;
  const said = state.announcement;
  announcing = setTimeout(() => {
    announcing = 0;
    if (state.announcement !== said) return announce(); // something else is just being said
    update((s) => {
      const { throttled, would } = standing();
      const are = throttled === 0 ? "Nobody is throttled" : throttled === 1 ? "1 user is throttled" : `${throttled} users are throttled`;
      s.announcement = are + (would > 0 ? `; ${would} would be.` : ".");
    });
  }, quiet);
}
