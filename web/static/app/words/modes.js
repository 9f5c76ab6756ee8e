// @ts-check
// The modes of a channel's chat in words, as Twitch names them.

import { t, table } from "../../text/text.js";
import { wait } from "./time.js";

/** @typedef {NonNullable<Api.Channel["modes"]>} Modes */
/** @typedef {Partial<Modes>} ModesChange */
/** @typedef {"slow_mode" | "follower_mode" | "subscriber_mode" | "emote_mode" | "unique_chat_mode"} ModeName */

/** @type {ModeName[]} */
export const modeNames = ["slow_mode", "follower_mode", "subscriber_mode", "emote_mode", "unique_chat_mode"];

/** @type {Record<ModeName, string>} */
export const modeTitles = table({
  slow_mode: "words.mode-slow", follower_mode: "words.mode-followers", subscriber_mode: "words.mode-subscribers", emote_mode: "words.mode-emotes", unique_chat_mode: "words.mode-unique",
});

// numbers are the numbers of modes, and their units in seconds.
/** @type {Partial<Record<ModeName, {field: "slow_mode_wait_time" | "follower_mode_duration", unit: number}>>} */
export const numbers = { slow_mode: { field: "slow_mode_wait_time", unit: 1 }, follower_mode: { field: "follower_mode_duration", unit: 60 } };

// numberText writes the number of a mode, with its unit.
/** @param {ModeName} mode @param {number} value */
export function numberText(mode, value) {
  return mode === "follower_mode" && value === 0 ? t("words.mode-any-follower") : wait(value * numbers[mode].unit * 1000);
}

// modeText names a mode with its number, if there is one: "Slow mode (30 s)".
/** @param {ModeName} mode @param {ModesChange} modes */
function modeText(mode, modes) {
  const value = numbers[mode] && modes[numbers[mode].field];
  return typeof value === "number" ? t("words.mode-with", { mode: modeTitles[mode], length: numberText(mode, value) }) : modeTitles[mode];
}

// modesOn names the modes that are on.
/** @param {Modes} modes */
export const modesOn = (modes) => modeNames.filter((mode) => modes[mode]).map((mode) => modeText(mode, modes));

// modesChanged says of each mode of a change whether it was switched on or off.
/** @param {ModesChange} change */
export const modesChanged = (change) =>
  modeNames.filter((mode) => typeof change[mode] === "boolean").map((mode) => (change[mode] ? t("words.mode-on", { mode: modeText(mode, change) }) : t("words.mode-off", { mode: modeTitles[mode] })));
