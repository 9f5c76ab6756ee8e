// @ts-check
// Times and durations in words.

import { locale, t } from "../../text/text.js";
import { channelZone, now } from "../core/state.js";
import { lengthText, nanoseconds } from "./lengths.js";
/** @import { TextKey } from "../../text/text.js" */

// Times are in the channel's time zone, which the page's head names once. Only times in another
// zone name their zone.

// dayFormat returns a format of days: "Tue 4 Nov". In English, only some browsers write a comma
// after the weekday.
/** @param {string} [timeZone] */
export function dayFormat(timeZone) {
  const written = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short", timeZone });
  /** @param {number} ms */
  const format = (ms) => (locale === "en-GB" ? written.format(ms).replace(",", "") : written.format(ms));
  return { format };
}

const formats = new Map(); // creating them is slow

// formatsOf returns the formats of a time zone, by default the channel's. They name any other zone.
/** @param {string} [timeZone] */
function formatsOf(timeZone) {
  const usual = channelZone();
  return formatsIn(timeZone || usual, Boolean(timeZone) && timeZone !== usual);
}

// formatsIn returns the formats of a time zone. For a zone that the browser doesn't know, they are
// the browser's own.
/** @param {string} timeZone @param {boolean} isNamed */
function formatsIn(timeZone, isNamed) {
  const key = `${timeZone} ${isNamed}`;
  if (!formats.has(key)) {
    /** @param {Intl.DateTimeFormatOptions} parts */
    const format = (parts) => new Intl.DateTimeFormat(locale, { ...parts, timeZone: timeZone || undefined });
    const clockParts = /** @type {Intl.DateTimeFormatOptions} */ ({ hour: "2-digit", minute: "2-digit", ...(isNamed && { timeZoneName: "short" }) });
    try {
      formats.set(key, { minute: format(clockParts), second: format({ ...clockParts, second: "2-digit" }), day: dayFormat(timeZone || undefined) });
    } catch {
      return formatsIn("", false);
    }
  }
  return formats.get(key);
}

const minute = 60_000; // ms

// clock writes a time: "14:03:22", or "14:03:22 CET" in a zone that isn't the channel's. If it
// isn't today, it adds the day and rounds up to the minute: "Tue 4 Nov, 14:04".
/** @param {number} ms @param {string} [zone] */
export function clock(ms, zone) {
  const write = formatsOf(zone);
  if (write.day.format(ms) === write.day.format(Date.now())) return write.second.format(ms);
  const later = Math.ceil(ms / minute) * minute;
  return dayTime(write.day.format(later), write.minute.format(later));
}

// upcoming writes a time in the future: "14:03:22", "00:00", "Tue 4 Nov, 14:04". It adds the day
// only if the time is more than 24 hours away.
/** @param {number} ms @param {string} [zone] */
export function upcoming(ms, zone) {
  if (ms - Date.now() > 24 * 60 * minute) return clock(ms, zone);
  const write = formatsOf(zone);
  return write.day.format(ms) === write.day.format(Date.now()) ? write.second.format(ms) : write.minute.format(Math.ceil(ms / minute) * minute);
}

/** @param {string} day @param {string} time */
const dayTime = (day, time) => t("words.day-time", { day, time });

// stamp writes a time in the past, to the second: "14:03:22", "Tue 4 Nov, 14:03:22".
/** @param {number} ms @param {string} [zone] */
export function stamp(ms, zone) {
  const write = formatsOf(zone);
  const day = write.day.format(ms), time = write.second.format(ms);
  return day === write.day.format(Date.now()) ? time : dayTime(day, time);
}

// toMinute writes a time to the minute: "14:03", "Tue 4 Nov, 14:03".
/** @param {number} ms @param {string} [zone] */
export function toMinute(ms, zone) {
  const write = formatsOf(zone);
  const day = write.day.format(ms), time = write.minute.format(ms);
  return day === write.day.format(Date.now()) ? time : dayTime(day, time);
}

/** @type {[TextKey, number][]} */
const units = [["words.days-short", 86400], ["words.hours-short", 3600], ["words.minutes-short", 60], ["words.seconds-short", 1]];

// wait writes a duration, rounded up to seconds, in its two largest units: "4 s", "3 h 12 min".
/** @param {number} ms */
export function wait(ms) {
  let seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [];
  for (const [key, size] of units) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0 || (size === 1 && parts.length === 0)) parts.push(t(key, { n: String(count) }));
  }
  const [larger, smaller] = parts;
  return smaller ? t("words.short-two", { larger, smaller }) : larger;
}

// waitUntil writes the wait until a time: at least one second, even if the time has passed and
// chatguard hasn't reported it yet.
/** @param {number} ms */
export const waitUntil = (ms) => wait(Math.max(1, ms - now()));

// length writes a number of seconds exactly, in words: "30 days", "1 hour 30 minutes", "0.5
// seconds".
/** @param {number} time */
export const length = (time) => lengthText(BigInt(Number.isFinite(time) ? Math.round(time * 1e9) : 0));

// seconds reads a duration of the API: "1m30s" is 90.
/** @param {string} text */
export const seconds = (text) => Number(nanoseconds(text)) / 1e9;

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

// weekdayName writes a day of the week, as a limit's first_day has it.
/** @param {string} day */
export function weekdayName(day) {
  const date = Date.UTC(2026, 0, 5 + weekdays.indexOf(day)); // 5 January 2026 was a Monday
  return weekdays.includes(day) ? new Intl.DateTimeFormat(locale, { weekday: "long", timeZone: "UTC" }).format(date) : day;
}
