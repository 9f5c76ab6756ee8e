// @ts-check
// The channel's settings for raid mode, timeouts and notices: loading, editing, checking and
// saving. They are saved apart from the limits.

import { commas, t } from "../../text/text.js";
import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
import { durationText, lengthText, nanoseconds, parseLength } from "../words/lengths.js";
import { wait } from "../words/time.js";
import { numbersOf, textsOf, wrongNumber } from "../words/typed.js";
/** @import { Bounds } from "../words/algorithms.js" */
/** @import { Texts } from "../words/typed.js" */

/**
 * Settings are the settings being edited.
 * @typedef {object} Settings
 * @property {string} channel
 * @property {Api.Settings} known as they were loaded
 * @property {boolean} isConfigured they are the configuration's
 * @property {string} etag
 * @property {SettingsDraft} draft what has been typed
 * @property {boolean} busy chatguard hasn't answered yet
 * @property {string} problem why saving failed
 * @property {boolean} isStale somebody else has changed the settings
 * @property {"" | "saved" | "unsaved"} done the outcome of the last save
 */

/**
 * @typedef {{raid: Texts, notices: Texts, text: string, language: string, lengths: string | null, reason: string}} SettingsDraft text
 *   is the notice, and language that of all that chatguard says in chat; lengths and reason are of
 *   timeouts by one click. lengths is null if the channel has none
 */

const day = 24 * 60 * 60; // seconds

/** @type {(least: number, most: number) => Bounds} */
const time = (least, most) => ({ isLength: true, least, most });
/** @type {(least: number) => Bounds} */
const count = (least) => ({ isLength: false, least, most: 10_000 });

const raidFields = {
  lasts: time(1, day),
  start_rate: count(0),
  channel_burst: count(1),
  channel_refill: time(0.001, day),
  first_timer_burst: count(1),
  first_timer_refill: time(0.001, day),
};

const noticeFields = { cooldown: time(1, 7 * day) };

/** @typedef {keyof typeof raidFields} RaidField */

const longest = 400; // characters of a notice

const mostLengths = 6, shortestTimeout = 1, longestTimeout = 14 * day; // seconds
const longestReason = 500; // characters

// inChat maps names to the placeholders of a notice, for texts that show them.
export const inChat = { name: "{name}", wait: "{wait}", limit: "{limit}" };


/** @param {string} channel */
const address = (channel) => `/channels/${encodeURIComponent(channel)}/settings`;

/** @param {Api.Settings} of @returns {SettingsDraft} */
const draftOf = ({ raid, notices, timeouts }) => ({
  raid: textsOf(raidFields, raid), notices: textsOf(noticeFields, notices), text: notices.text, language: notices.language || "en",
  lengths: timeouts ? commas(timeouts.lengths.map((length) => lengthText(nanoseconds(length)))) : null, reason: timeouts?.reason ?? "",
});

const asked = inOrder();

// loadSettings fetches the settings of the channel shown. Unsaved edits of the same channel stay.
export function loadSettings() {
  const { channel, settings } = state;
  if (settings?.channel !== channel || !isEdited(settings)) reloadSettings();
}

// reloadSettings does the same, and drops unsaved edits.
export async function reloadSettings() {
  const { channel } = state;
  const isNews = asked();
  try {
    const { body, etag } = await request("GET", address(channel));
    if (isNews() && channel === state.channel) set(settingsOf(channel, body, etag, ""));
  } catch (problem) {
    if (!ifSignedOut(problem) && isNews() && channel === state.channel) update((s) => (s.settings = null));
  }
}

/** @param {string} channel @param {Api.getChannelsSettings} body @param {string} etag @param {Settings["done"]} done @returns {Settings} */
function settingsOf(channel, { settings: known, configured }, etag, done) {
  return { channel, known, isConfigured: configured, etag, draft: draftOf(known), busy: false, problem: "", isStale: false, done };
}

/** @param {Settings} settings */
const set = (settings) => update((s) => (s.settings = settings));

// isEdited reports whether the draft differs from the settings in force.
/** @param {Settings} of */
export const isEdited = ({ known, draft }) => JSON.stringify(draft) !== JSON.stringify(draftOf(known));

/** @param {Partial<SettingsDraft>} change */
export function editSettings(change) {
  if (state.settings.busy) return;
  set({ ...state.settings, draft: { ...state.settings.draft, ...change }, problem: "", isStale: false, done: "" });
}

export function discardSettings() {
  const { settings } = state;
  if (!settings.busy) set({ ...settings, draft: draftOf(settings.known), problem: "", isStale: false, done: "" });
}

// settingsErrors returns what is wrong with a draft, by field.
/** @param {SettingsDraft} draft */
export function settingsErrors(draft) {
  /** @type {Record<string, string>} */
  const errors = {};
  /** @type {[Record<string, Bounds>, Texts][]} */
  const parts = [[raidFields, draft.raid], [noticeFields, draft.notices]];
  for (const [fields, texts] of parts) {
    for (const [name, field] of Object.entries(fields)) errors[name] = wrongNumber(field, texts[name]);
  }
  errors.text = wrongNotice(draft.text.trim());
  if (draft.lengths !== null && !lengthsOf(draft.lengths)) errors.lengths = t("limits.timeouts-wrong", { most: mostLengths });
  if ([...draft.reason].length > longestReason) errors.reason = t("limits.reason-long", { most: longestReason });
  return Object.fromEntries(Object.entries(errors).filter(([, error]) => error));
}

// lengthsOf reads durations of timeouts as people write them: "10 min, 1 h". It returns them as the
// API writes them, or null if they can't be used.
/** @param {string} text */
function lengthsOf(text) {
  const lengths = text.split(/[,;、]/).map((length) => parseLength(length));
  const seconds = lengths.map((ns) => (ns === null ? -1 : Number(ns) / 1e9));
  if (lengths.length > mostLengths || seconds.some((length) => length < shortestTimeout || length > longestTimeout)) return null;
  return lengths.map((ns) => durationText(ns));
}

/** @param {string} text */
function wrongNotice(text) {
  const rest = Object.values(inChat).reduce((left, known) => left.replaceAll(known, ""), text);
  if ([...text].length > longest) return t("limits.notice-long", { most: longest });
  if (/^[/.]/.test(text)) return t("limits.notice-command", { start: text[0] });
  return /[{}]/.test(rest) ? t("limits.notice-placeholders", inChat) : "";
}

// noticeExample returns a notice as a user of that name would get it.
/** @param {string} text @param {string} name */
export const noticeExample = (text, name) => text.trim().replaceAll(inChat.name, name).replaceAll(inChat.wait, wait(4000)).replaceAll(inChat.limit, "burst");

// saveSettings replaces the settings in force by the draft.
export function saveSettings() {
  const { settings } = state;
  const { known, draft } = settings;
  if (!isEdited(settings) || Object.keys(settingsErrors(draft)).length > 0) return;
  const body = {
    raid: numbersOf(raidFields, known.raid, draft.raid),
    notices: { ...numbersOf(noticeFields, known.notices, draft.notices), text: draft.text.trim(), language: draft.language },
    ...(draft.lengths !== null && { timeouts: { lengths: lengthsOf(draft.lengths), reason: draft.reason.trim() } }),
  };
  return send("PUT", body);
}

// restoreSettings restores the configuration's settings.
export const restoreSettings = () => send("DELETE", undefined);

/** @param {string} method @param {unknown} body */
async function send(method, body) {
  const { settings } = state;
  if (settings.busy) return;
  const busy = { ...settings, busy: true, problem: "" };
  set(busy);
  const isShown = () => state.settings === busy;
  try {
    const answer = await request(method, address(settings.channel), { body, ifMatch: settings.etag });
    if (isShown()) set(settingsOf(settings.channel, answer.body, answer.etag, answer.body.saved ? "saved" : "unsaved"));
  } catch (problem) {
    if (!ifSignedOut(problem) && isShown()) set({ ...settings, problem: problem.message, isStale: problem.status === 412 });
  }
}
