// @ts-check
// The dashboard's whole state. Views are functions of the state, and only update changes it.

/** @import { Outcome } from "../changes/user.js" */
/** @import { DialogName } from "./dialog.js" */
/** @import { Page } from "./route.js" */
/** @import { Form } from "../limits/form.js" */
/** @import { History } from "../limits/history.js" */
/** @import { Overrides } from "../limits/overrides.js" */
/** @import { Settings } from "../limits/settings.js" */
/** @import { Preview } from "../limits/preview.js" */
/** @import { KnownWeek } from "../limits/week.js" */
/** @import { Held, Pointed } from "../now/held-row.js" */
/** @import { KnownNodes } from "../now/nodes.js" */
/** @import { Rates, Span } from "../now/rates.js" */
/** @import { Summaries } from "../now/summary.js" */
/** @import { Pressed, SwitchName } from "../now/switches.js" */
/** @import { Top } from "../now/top.js" */
/** @import { People } from "../people/people.js" */
/** @import { Audit } from "../records/audit-page.js" */
/** @import { Journal } from "../records/journal.js" */
/** @import { DeviceSignIn } from "../shell/device.js" */
/** @import { Connecting } from "../start/login.js" */
/** @import { Start } from "../start/setup.js" */
/** @import { Pardoning } from "../widgets/pardon.js" */

/**
 * @typedef {NonNullable<Api.Frame["status"]>} Status
 * @typedef {Status["connections"][number]} Connection
 * @typedef {Status["database"]} Database
 * @typedef {NonNullable<Status["shared"]>} Shared
 * @typedef {NonNullable<Api.Channel["unread"]>} Unread
 * @typedef {Record<string, string>} Query
 * @typedef {{user_id: string, login?: string, display_name?: string}} Named
 */

/**
 * User is a user on the page Now. arrived is when the user was throttled, and left is when that
 * ended, by the browser's clock, ms; each is 0 if the page hasn't seen it. until is may_speak_at,
 * and toldAt is when chatguard sent this, ms. leaving says that the user is no longer listed.
 * @typedef {Api.Throttled & {arrived: number, left: number, until: number, toldAt: number, leaving?: boolean, isGone?: boolean}} User
 */

/**
 * Preferences are what a person has chosen for this browser.
 * @typedef {object} Preferences
 * @property {"system" | "light" | "dark"} theme
 * @property {"comfortable" | "compact"} density
 * @property {Alerts} alerts
 * @property {Record<string, string>} [dismissed] by channel: the start of the period whose summary
 *   isn't shown
 */

/**
 * Alerts say what a person wants to be told while they look elsewhere, and how.
 * @typedef {object} Alerts
 * @property {boolean} raid raid mode starts
 * @property {boolean} failure something fails
 * @property {boolean} many at least count users are throttled
 * @property {number} count
 * @property {boolean} sound a beep
 * @property {boolean} notify a desktop notification
 */

/**
 * @typedef {object} Me
 * @property {string} name
 * @property {string} access
 * @property {string} [from]
 * @property {string} author the name in records
 * @property {string} [all] what they may do that is about all channels
 * @property {Record<string, string>} [channels] what they may do in each channel, if that differs
 * @property {boolean} [mounted] another site signs people in
 * @property {{console: string}} [first_run] there is no configuration yet
 */

/**
 * @typedef {object} State
 * @property {"unknown" | "out" | "in"} session
 * @property {{busy: boolean, error: string, why?: string, mounted?: boolean}} signIn why says why a
 *   session ended; mounted is the same as in me
 * @property {Api.getSignIn} ways how people can sign in with Twitch; empty before that is known
 * @property {DeviceSignIn | null} device the sign-in by a code to enter on Twitch; null if none is open
 * @property {Me} me who is signed in
 * @property {Page} route the page shown
 * @property {boolean} isUnknown whether the address bar names a page that doesn't exist
 * @property {Query} query the address bar's parameters without the channel
 * @property {Api.Channel[]} channels
 * @property {Api.Unidentified[]} unidentified channels whose IDs aren't known yet
 * @property {string} wanted the ID of the channel in the address bar; empty means the first
 * @property {string | null} channel the ID of the channel shown; empty if there is none, null
 *   before that is known
 * @property {{state: "connecting" | "open" | "lost", lastFrame: number, why?: string}} feed
 *   lastFrame is when the last frame came, ms; why is chatguard's reason for closing the feed
 * @property {number} clockLead how far chatguard's clock is ahead of the browser's, ms
 * @property {Api.getAlgorithms["algorithms"]} algorithms empty before they are loaded
 * @property {Status | null} status
 * @property {NonNullable<Api.Frame["policy"]> | null} policy
 * @property {Map<string, User>} users by ID: who is throttled, timed out or banned, or was
 *   throttled in the last 10 minutes; those throttled first come first
 * @property {Held | null} held the row with the pointer, the focus or a question
 * @property {Pointed | null} pointed the row with the pointer while another one has a question
 * @property {Record<string, Outcome>} changes outcomes of the last changes to users, by user ID
 * @property {Form | null} form the limits being edited
 * @property {Record<string, Form>} drafts unsaved forms of other channels, by the channel's ID
 * @property {Settings | null} settings the settings for raid mode and notices being edited
 * @property {Rates | null} rates the channel's message rates
 * @property {Span} ratesSpan the time range of the rates shown
 * @property {Top | null} top who was throttled most
 * @property {Summaries | null} summaries what happened in the last stream
 * @property {KnownNodes | null} nodes the nodes that share limits
 * @property {Preview | null} preview what the limits being edited would have done
 * @property {Overrides | null} overrides users with custom limits
 * @property {Record<string, KnownWeek>} weeks what was left of shared limits, by its address
 * @property {History | null} history revisions of the policy
 * @property {People | null} people users found, and the one shown
 * @property {Journal | null} journal
 * @property {Audit | null} audit
 * @property {Api.Entry | null} entry the journal's entry that is open
 * @property {Record<string, Pardoning>} pardons outcomes of pardoning entries, by ID
 * @property {Partial<Record<SwitchName, Pressed>>} pressed outcomes of pressing the channel's
 *   switches
 * @property {Start | null} start what is left to set up
 * @property {Connecting | null} connecting the dialog that connects the bot; null if it is closed
 * @property {Preferences} preferences
 * @property {string} raidLength how long the next raid mode lasts, such as "5m"; empty means the
 *   usual duration
 * @property {string} dismissedRaid the raid for which the person wants no raid mode: its channel's ID
 *   and its beginning
 * @property {DialogName | ""} dialog the dialog that is open, of those that every page can open
 * @property {string} problem why signing out failed
 * @property {string} focus the ID of the element that gets the keyboard's focus after it is drawn
 * @property {string} announcement what a screen reader says next
 */

/** @type {State} */
export const state = {
  session: "unknown",
  signIn: { busy: false, error: "", why: "", mounted: false },
  ways: {},
  device: null,
  me: { name: "", access: "", author: "" },
  route: "now",
  isUnknown: false,
  query: {},
  channels: [],
  unidentified: [],
  wanted: "",
  channel: null,
  feed: { state: "connecting", lastFrame: 0 },
  clockLead: 0,
  algorithms: [],
  status: null,
  policy: null,
  users: new Map(),
  held: null,
  pointed: null,
  changes: {},
  form: null,
  drafts: {},
  settings: null,
  rates: null,
  ratesSpan: "hour",
  top: null,
  summaries: null,
  nodes: null,
  preview: null,
  overrides: null,
  weeks: {},
  history: null,
  people: null,
  journal: null,
  audit: null,
  entry: null,
  pardons: {},
  pressed: {},
  start: null,
  connecting: null,
  preferences: {
    theme: "system",
    density: "comfortable",
    alerts: { raid: true, failure: true, many: false, count: 20, sound: false, notify: false },
  },
  raidLength: "",
  dismissedRaid: "",
  dialog: "",
  problem: "",
  focus: "",
  announcement: "",
};

/** @type {(state: State) => void} */
let render = () => {};
let scheduled = false;
let drawnAt = 0; // when the current drawing began, by the browser's clock, ms; 0 between drawings

// onChange sets the function that draws the state. It is called at most once per animation frame.
/** @param {(state: State) => void} draw */
export function onChange(draw) {
  render = draw;
}

/** @param {(state: State) => unknown} change */
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

export const farewell = 300; // how long a row takes to leave, ms

// isStanding reports whether a user is throttled now: by a limit, a timeout, or a ban that was
// given a short time ago. It uses the clock, because chatguard reports the end of the wait a little
// later.
/** @param {User} of */
export function isStanding({ held, leaving, never, until }) {
  return held && !leaving && (never || until > asOf());
}

// inForce returns a timeout or ban if it still is in force, or null.
/** @param {Api.Silence | null | undefined} silence */
export const inForce = (silence) => (silence && (silence.banned || Date.parse(silence.until ?? "") > asOf()) ? silence : null);

// observes reports whether the limits of the channel shown throttle nobody, as in a pause.
export function observes() {
  const { policy, channels, channel } = state;
  return policy?.in_force === "observe" || Boolean(channels.find(({ id }) => id === channel)?.paused_by);
}

// isLimited reports whether the limit of a user's row is enforced. Otherwise, only a timeout or ban
// keeps the user from writing.
/** @param {User} user */
export const isLimited = (user) => !user.observed && !observes();

// waitsWithSame reports whether a user has to wait only with the same message: a limit on repeated
// text throttles it, for longer than any timeout lasts.
/** @param {User} user */
export function waitsWithSame(user) {
  const silence = inForce(user.silenced), isSilenced = silence && (silence.banned || Date.parse(silence.until ?? "") > user.until - 1000);
  return Boolean(user.same_text) && isLimited(user) && isStanding(user) && !user.never && !isSilenced;
}

// standing counts the users who are throttled, and those who would be if their limit were enforced.
export function standing() {
  let throttled = 0, would = 0;
  const isObserved = observes();
  for (const user of state.users.values()) {
    if (!isStanding(user)) continue;
    if (!(isObserved || user.observed) || inForce(user.silenced)) throttled++;
    else would++;
  }
  return { throttled, would };
}

// accesses are the kinds of access of people, each of which includes those before it.
const accesses = ["view", "help", "moderate", "moderate-notices", "own"];

// accessHere is what the signed-in user may do in the channel shown.
export function accessHere() {
  const { access, channels } = state.me;
  return channels ? channels[state.channel ?? ""] ?? "" : access;
}

/** @param {string} needed */
const may = (needed) => accesses.indexOf(accessHere()) >= accesses.indexOf(needed);

// mayHelp, mayModerate, mayNotify and mayOwn report what the signed-in user may do in the channel
// shown: pardon and help users; change limits and switches too; change notices too; everything.
export const mayHelp = () => may("help");
export const mayModerate = () => may("moderate");
export const mayNotify = () => may("moderate-notices");
export const mayOwn = () => may("own");

// mayOwnAll reports whether the signed-in user owns the whole installation: the bot's account,
// tokens, sessions and webhooks.
export function mayOwnAll() {
  return state.me.all === "own";
}

// mayAct reports whether the signed-in user may time users out and ban them in the channel shown.
export function mayAct() {
  return mayModerate() && Boolean(state.channels.find(({ id }) => id === state.channel)?.acts);
}

/** @type {NonNullable<Api.Channel["timeouts"]>} */
const usualTimeouts = { lengths: ["10m"], reason: "" };

// timeoutsHere returns the timeouts that moderators of the channel shown give with one click. The
// first one is the usual one.
export const timeoutsHere = () => state.channels.find(({ id }) => id === state.channel)?.timeouts ?? usualTimeouts;

// shownID returns a user's ID as people see it: without the prefix that marks users of another
// chat's server in addresses.
/** @param {string} id */
export const shownID = (id) => (state.me.mounted ? id : id.replace(/^check:/, ""));

const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu; // changes the writing direction
const visible = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
const longestName = 50; // characters

// shownName returns a name from chat as people see it: shortened, and without characters that
// change the direction of the text around it. It is empty if nothing of the name is visible.
/** @param {string | undefined} name */
export function shownName(name = "") {
  const letters = [...name.replace(turning, "")];
  if (!visible.test(letters.join(""))) return "";
  return letters.length > longestName ? letters.slice(0, longestName).join("") + "…" : letters.join("");
}

// nameOf returns a user's name. It is never empty and always visible.
/** @param {Named} of */
export const nameOf = ({ display_name: shown, login, user_id: id }) => shownName(shown) || shownName(login) || shownID(id);

// channelName returns a channel's name, likewise.
/** @param {Api.Channel} of */
export const channelName = ({ login, id }) => shownName(login) || shownID(id);

// loginOf returns a user's login if the name doesn't already say it.
/** @param {Named} user */
export function loginOf(user) {
  const login = shownName(user.login);
  return login.toLowerCase() === nameOf(user).toLowerCase() ? "" : login;
}

// unreadHere returns why the channel shown isn't read, or undefined if it is read. Without a
// channel, it is about the first whose ID isn't known yet.
/** @returns {Unread | undefined} */
export function unreadHere() {
  const { channels, channel, unidentified } = state;
  return channel ? channels.find(({ id }) => id === channel)?.unread : unidentified[0];
}

// raidID identifies the raid that a channel seems to have.
/** @param {Api.Channel} of */
export const raidID = ({ id, raid_signs: signs }) => `${id} ${signs?.since}`;

// raidSignsOf returns why the channel shown looks raided; null if it doesn't, or if the person has
// dismissed that.
/** @param {State} of */
export function raidSignsOf({ channels, channel, dismissedRaid }) {
  const shown = channels.find(({ id }) => id === channel);
  return shown?.raid_signs && raidID(shown) !== dismissedRaid ? shown.raid_signs : null;
}

// channelZone returns the time zone of the channel shown; empty before it is known.
export function channelZone() {
  const shown = state.channels.find((channel) => channel.id === state.channel);
  return shown ? shown.timezone || "UTC" : "";
}

// now returns the time by chatguard's clock, ms. The time doesn't change while the state is drawn,
// so that all parts of the page agree.
export function now() {
  return (drawnAt || Date.now()) + state.clockLead;
}

// asOf returns the time at which the throttled users were last known, ms. It is now, or the time of
// the last frame while the connection is lost.
export function asOf() {
  return state.feed.state === "lost" ? state.feed.lastFrame + state.clockLead : now();
}
