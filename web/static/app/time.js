// Times and lengths of time in words.

const clockFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" });
const minuteFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
const dayFormat = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });

const minute = 60_000; // ms

// clock writes a moment with its zone; where it isn't today, with its day and rounded up to the minute: "14:03:22 CET", "Tue 4 Nov, 14:04 CET".
export function clock(ms) {
  const at = new Date(ms);
  if (at.toDateString() === new Date().toDateString()) return clockFormat.format(at);
  const later = new Date(Math.ceil(ms / minute) * minute);
  return dayFormat.format(later) + ", " + minuteFormat.format(later);
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
