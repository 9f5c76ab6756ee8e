// Times and lengths of time in words.

const clockParts = { hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
const dayParts = { weekday: "short", day: "numeric", month: "short" };

const formats = new Map(); // made once for each zone, as that is slow

// formatsOf returns how times are written in a zone; an empty one is the browser's own, and so is one that the browser doesn't know.
function formatsOf(timeZone = "") {
  if (!formats.has(timeZone)) {
    const format = (parts) => new Intl.DateTimeFormat("en-GB", { ...parts, timeZone: timeZone || undefined });
    try {
      formats.set(timeZone, { minute: format(clockParts), second: format({ ...clockParts, second: "2-digit" }), day: format(dayParts) });
    } catch {
      return formatsOf();
    }
  }
  return formats.get(timeZone);
}

const minute = 60_000; // ms

// clock writes a moment with its zone; where it isn't today, with its day and rounded up to the minute: "14:03:22 CET", "Tue 4 Nov, 14:04 CET".
export function clock(ms, zone) {
  const write = formatsOf(zone);
  if (write.day.format(ms) === write.day.format(Date.now())) return write.second.format(ms);
  const later = Math.ceil(ms / minute) * minute;
  return write.day.format(later) + ", " + write.minute.format(later);
}

// soon writes a moment beside how long it is until then: within a day it needs no day. "14:03:22 CET", "00:00 CET", "Tue 4 Nov, 14:04 CET".
export function soon(ms, zone) {
  if (ms - Date.now() > 24 * 60 * minute) return clock(ms, zone);
  const write = formatsOf(zone);
  return write.day.format(ms) === write.day.format(Date.now()) ? write.second.format(ms) : write.minute.format(Math.ceil(ms / minute) * minute);
}

// stamp writes when something happened, to the second: "14:03:22 CET", "Tue 4 Nov, 14:03:22 CET".
export function stamp(ms, zone) {
  const write = formatsOf(zone);
  const day = write.day.format(ms);
  return (day === write.day.format(Date.now()) ? "" : day + ", ") + write.second.format(ms);
}

// toMinute writes when something happened, to the minute: "14:03 CET", "Tue 4 Nov, 14:03 CET".
export function toMinute(ms, zone) {
  const write = formatsOf(zone);
  const day = write.day.format(ms);
  return (day === write.day.format(Date.now()) ? "" : day + ", ") + write.minute.format(ms);
}

const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

// wait writes how long something takes, rounded up to seconds, in its two largest units: "4 s", "3 h 12 min".
export function wait(ms) {
  let seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [];
  for (const [name, size] of units) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0 || (name === "s" && parts.length === 0)) parts.push(`${count} ${name}`);
  }
  return parts.slice(0, 2).join(" ");
}

const exactly = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 9 });
const words = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

// length writes a number of seconds exactly, in words: "30 days", "1 hour 30 minutes", "0.5 seconds".
export function length(time) {
  const parts = [];
  for (const [name, size] of words) {
    const count = size === 1 ? Number(time.toFixed(9)) : Math.floor(time / size);
    time -= count * size;
    if (count > 0) parts.push(`${exactly.format(count)} ${name}${count === 1 ? "" : "s"}`);
  }
  return parts.join(" ") || "0 seconds";
}

const goUnits = { ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600 };

// seconds reads a length of time as the API writes it: "1m30s" is 90.
export function seconds(text) {
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) sum += Number(count) * goUnits[unit];
  return Number(sum.toFixed(9));
}
