// @ts-check
// Timeouts and bans in words.

import { clock } from "./time.js";

// giver names who gave a timeout or ban.
/** @param {string} by */
export const giver = (by) => by.replace(/^twitch:(.*)/s, "$1 on Twitch");

// silenceWords describes a timeout or ban: "a timeout until 14:03:22 CET by anna". A giver that
// isn't known is left out.
/** @param {Api.Silence} silence @param {string} [zone] */
export function silenceWords({ banned, until, by }, zone) {
  return (banned ? "a ban" : `a timeout until ${clock(Date.parse(until ?? ""), zone)}`) + (by ? ` by ${giver(by)}` : "");
}
