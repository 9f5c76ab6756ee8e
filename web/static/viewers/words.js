// @ts-check
// Times and durations, in the viewer's own time zone and language.

import { gap, locale } from "../text/text.js";

export const zone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const minutes = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" });
const date = new Intl.DateTimeFormat(locale, { dateStyle: "short" });

const hour = 3_600_000; // ms

// timeText writes a time in the future: to the second if it is soon, and with the day if it isn't
// today.
/** @param {number} at @param {number} now */
export function timeText(at, now) {
  if (at - now < hour) return clock.format(at);
  return (date.format(at) === date.format(now) ? minutes : day).format(Math.ceil(at / 60_000) * 60_000);
}

const two = (/** @type {number} */ n) => String(n).padStart(2, "0");

// countdownText writes a wait as a clock: "0:12", "1:02:03". It is never zero.
/** @param {number} ms */
export function countdownText(ms) {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** @type {[string, number][]} */
const units = [["week", 604_800], ["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]];

// lengthText writes a duration in the largest unit in which it is whole: "90 seconds", "2 days".
/** @param {number} seconds */
export function lengthText(seconds) {
  const [unit, size] = units.find(([, size]) => seconds >= size && seconds % size === 0) ?? ["second", 1];
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 3 }).format(seconds / size).replaceAll(" ", gap);
}
