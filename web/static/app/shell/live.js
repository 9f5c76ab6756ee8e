// @ts-check
// The live feed: a WebSocket that sends a snapshot, then every change. If the connection is lost,
// the page reconnects automatically and the feed continues after the last frame.

import { t } from "../../text/text.js";
import { liveAddress, request } from "../core/api.js";
import { ifSignedOut, shutOut } from "../core/session.js";
import { farewell, standing, state, update } from "../core/state.js";
import { formsFor, load, policyChanged } from "../limits/form.js";
import { watchAlerts } from "./alerts.js";
import { entitle } from "./title.js";
/** @import { User } from "../core/state.js" */

const silence = 5000; // a connection without frames for this duration is dead, ms; a status comes every second
const longestPause = 8000; // between two attempts, ms
const quiet = 3000; // between two announcements, ms
const signedOutCode = 4401;
const tooManyCode = 4429; // the reason is a sentence for people
const longPause = 30000; // before another attempt if too many feeds are open, ms

/** @type {WebSocket | null} */
let socket = null;
let feed = ""; // the name of the feed that the state follows
let seen = 0; // the number of the last frame applied to the state; 0 if there is none
let attempts = 0;
let retry = 0;
let announcing = 0;

// choose shows the wanted channel, or the first if that one doesn't exist. If there are no channels
// yet, it opens a feed that announces the first one.
export function choose() {
  const { id } = state.channels.find((c) => c.id === state.wanted) ?? state.channels[0] ?? { id: "" };
  if (id !== state.channel) {
    seen = 0;
    update((s) => {
      Object.assign(s, formsFor(id));
      s.channel = id;
      s.users = new Map();
      s.status = s.policy = s.preview = s.history = s.overrides = null;
      s.pressed = s.changes = {};
    });
    follow();
  }
  if (id && state.route === "limits" && !state.form) load();
}

// follow opens the feed of the channel shown, and closes any other.
function follow() {
  stop();
  const mine = (socket = new WebSocket(liveAddress(state.channel, feed, seen)));
  mine.onmessage = (event) => mine === socket && receive(JSON.parse(event.data));
  mine.onclose = (event) => mine === socket && lost(event.code, event.reason);
  update((s) => (s.feed = { state: s.feed.state === "lost" ? "lost" : "connecting", lastFrame: s.feed.lastFrame }));
}

// stop closes the feed and doesn't reconnect.
export function stop() {
  clearTimeout(retry);
  const old = socket;
  socket = null;
  old?.close();
}

// watch detects a silent connection.
export function watch() {
  if (state.feed.state === "open" && Date.now() - state.feed.lastFrame > silence) lost();
}

// retryNow reconnects without waiting for the next attempt.
export function retryNow() {
  if (state.session === "in" && state.feed.state === "lost") follow();
}

/** @param {number} [code] @param {string} [reason] */
async function lost(code, reason) {
  stop();
  if (code === signedOutCode && !state.me.mounted) return shutOut(); // if mounted, the request below fails with the site's own message
  update((s) => {
    if (s.feed.state !== "lost") s.announcement = t("shell.sentence", { what: t("shell.connection-lost") });
    s.feed = { ...s.feed, state: "lost", why: code === tooManyCode ? reason : "" };
  });
  const most = code === tooManyCode ? longPause : Math.min(longestPause, 250 * 2 ** attempts++);
  const pause = most * (0.5 + Math.random() / 2);
  retry = setTimeout(async () => {
    try {
      const [me, { body }] = await Promise.all([request("GET", "/session"), request("GET", "/channels")]); // fails with the reason, which a refused WebSocket doesn't give
      update((s) => {
        s.me = me.body; // rights may have changed
        s.channels = body.channels;
        s.unidentified = body.unidentified ?? [];
      });
      if (isGone()) choose();
      else follow();
    } catch (problem) {
      if (!ifSignedOut(problem)) lost();
    }
  }, pause);
}

/** @param {Api.Frame} frame */
function receive(frame) {
  seen = frame.seq;
  feed = frame.feed ?? feed; // a snapshot begins a new feed
  attempts = 0;
  update((s) => {
    if (s.feed.state === "lost") s.announcement = t("shell.reconnected");
    s.feed = { state: "open", lastFrame: Date.now() };
    s.clockLead = Date.parse(frame.now) - Date.now();
    if (frame.status) {
      s.status = frame.status;
      s.unidentified = frame.unidentified ?? [];
    }
    if (frame.channels) s.channels = frame.channels;
  });
  take[frame.type]?.(frame);
  entitle(state); // also in a hidden tab, where nothing is drawn
  if (frame.status) watchAlerts(state);
  if (isLate()) choose();
}

// isLate reports whether a channel that the page waits for has appeared. If no channel is shown,
// the page waits for any channel. Otherwise it waits only for the wanted one.
function isLate() {
  const { channel, channels, wanted } = state;
  return channel === "" ? channels.length > 0 : channel !== wanted && channels.some((c) => c.id === wanted);
}

// isGone reports whether chatguard serves other channels but no longer the one shown.
function isGone() {
  return state.channel !== "" && state.channels.length > 0 && state.channels.every((c) => c.id !== state.channel);
}

const unseen = { arrived: 0, left: 0 };

/** @type {Partial<Record<Api.Frame["type"], (frame: Api.Frame) => void>>} */
const take = {
  snapshot(frame) {
    update((s) => {
      s.users = new Map((frame.users ?? []).map((user) => [user.user_id, { ...user, ...unseen, ...times(frame, user) }]));
    });
    policyChanged(frame.policy);
  },
  throttled(frame) {
    update((s) => {
      for (const user of frame.users ?? []) put(s.users, user, frame);
      for (const id of frame.gone ?? []) leave(s.users, id);
    });
    announce();
  },
  policy(frame) {
    policyChanged(frame.policy);
  },
};

/** @param {Api.Frame} frame @param {Api.Throttled} user */
const times = (frame, user) => ({ until: Date.parse(user.may_speak_at), toldAt: Date.parse(frame.now) });

/** @param {Map<string, User>} users @param {Api.Throttled} user @param {Api.Frame} frame */
function put(users, user, frame) {
  const known = users.get(user.user_id);
  const isNew = !known || known.leaving || (user.held && !known.held);
  const hasLeft = !user.held && known?.held;
  if (isNew) users.delete(user.user_id); // the user returns as a new row, at the top
  users.set(user.user_id, {
    ...user,
    arrived: isNew ? Date.now() : known.arrived,
    left: hasLeft ? Date.now() : (known?.left ?? 0),
    ...times(frame, user),
  });
  if (hasLeft) setTimeout(() => update(() => {}), farewell);
}

/** @param {Map<string, User>} users @param {string} id */
function leave(users, id) {
  const user = users.get(id);
  if (!user) return;
  const leaving = { ...user, leaving: true };
  users.set(id, leaving);
  setTimeout(() => update((s) => s.users.get(id) === leaving && s.users.delete(id)), farewell);
}

// announce tells a screen reader how many users are throttled, at most every few seconds.
function announce() {
  if (announcing) return;
  const said = state.announcement;
  announcing = setTimeout(() => {
    announcing = 0;
    if (state.announcement !== said) return announce(); // another announcement is being read
    update((s) => (s.announcement = throttledWords(standing())));
  }, quiet);
}

/** @param {{throttled: number, would: number}} of */
function throttledWords({ throttled: n, would }) {
  if (n === 0) return would > 0 ? t("shell.nobody-throttled-would", { would }) : t("shell.nobody-throttled");
  return would > 0 ? t("shell.users-throttled-would", { n, would }) : t("shell.users-throttled", { n });
}
