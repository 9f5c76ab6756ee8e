// @ts-check
// Lengths of time, exact to the nanosecond: read as people write them, and written in words or as
// the API writes them.

/** @type {[name: string, ns: bigint][]} */
const units = [["week", 604_800_000_000_000n], ["day", 86_400_000_000_000n], ["hour", 3_600_000_000_000n], ["minute", 60_000_000_000n], ["second", 1_000_000_000n]];

/** @type {Record<string, string>} */
const spellings = { w: "week", d: "day", h: "hour", hr: "hour", m: "minute", min: "minute", s: "second", sec: "second", "": "" };

const longest = 64; // characters of a typed text

/** @type {Map<string, bigint>} */
const sizes = new Map([...units, ["ms", 1_000_000n], ["us", 1000n], ["µs", 1000n], ["ns", 1n]]);

// parseLength reads a length of time as people write it, in ns: "30m", "1h30", "1 hour 30 minutes",
// "1.5 h". A number without a unit means seconds or, after a unit, the next smaller unit. The
// result is null if the text is something else.
/** @param {string} text */
export function parseLength(text) {
  let rest = text.trim().toLowerCase();
  if (rest === "" || rest.length > longest) return null;
  let sum = 0n, last = -1; // last is the index of the unit before
  while (rest !== "") {
    const part = /^(\d+(?:\.\d+)?|\.\d+)\s*(ms|[a-z]*)(?:\s*,\s+|\s+and\s+|\s*)/.exec(rest);
    if (!part) return null;
    const [all, number, unit] = part;
    rest = rest.slice(all.length);
    if (unit === "ms") return last === -1 && rest === "" ? times(number, sizes.get(unit)) : null;
    const place = unit === "" ? bare(last, rest) : units.findIndex(([name]) => name === spelled(unit));
    if (place <= last || place >= units.length) return null;
    sum += times(number, units[place][1]);
    last = place;
  }
  return sum;
}

// bare returns the index of the unit of a number without one: only the last number may lack it.
/** @param {number} last @param {string} rest */
const bare = (last, rest) => (rest !== "" ? -1 : last === -1 ? units.length - 1 : last + 1);

/** @param {string} unit */
const spelled = (unit) => spellings[unit] ?? spellings[unit.replace(/s$/, "")] ?? unit.replace(/s$/, "");

// times returns a decimal number of units, in ns.
/** @param {string} number @param {bigint} size */
function times(number, size) {
  const [whole, fraction = ""] = number.split(".");
  return (BigInt(whole + fraction) * size) / 10n ** BigInt(fraction.length);
}

// nanoseconds reads a duration of the API: "1m30s".
/** @param {string} text */
export function nanoseconds(text) {
  let sum = 0n;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) sum += times(count, sizes.get(spellings[unit] ?? unit));
  return sum;
}

// lengthText writes a length of time in words: "30 days", "1 hour 30 minutes", "0.5 seconds".
/** @param {bigint} ns */
export function lengthText(ns) {
  const parts = [];
  for (const [name, size] of units.slice(1)) {
    const count = name === "second" ? decimal(ns, 9) : String(ns / size);
    ns %= size;
    if (count !== "0") parts.push(`${count} ${name}${count === "1" ? "" : "s"}`);
  }
  return parts.join(" ") || "0 seconds";
}

// durationText writes a length of time as the API does: "1h30m", "500ms".
/** @param {bigint} ns */
export function durationText(ns) {
  for (const [unit, digits] of /** @type {[string, number][]} */ ([["ns", 0], ["µs", 3], ["ms", 6]])) {
    if (ns > 0n && ns < 10n ** BigInt(digits + 3)) return decimal(ns, digits) + unit;
  }
  const hours = ns / sizes.get("hour"), minutes = (ns / sizes.get("minute")) % 60n, rest = decimal(ns % sizes.get("minute"), 9);
  const parts = [hours > 0n && `${hours}h`, (minutes > 0n || (hours > 0n && rest !== "0")) && `${minutes}m`, rest !== "0" && `${rest}s`];
  return parts.filter(Boolean).join("") || "0s";
}

// typedDuration writes a length of time that a person typed as the API does. Any other text stays
// as it is: it is the API that refuses it.
/** @param {string} text */
export function typedDuration(text) {
  const ns = parseLength(text);
  return ns === null ? text : durationText(ns);
}

// decimal writes a whole number divided by a power of ten.
/** @param {bigint} number @param {number} digits */
function decimal(number, digits) {
  const size = 10n ** BigInt(digits);
  const fraction = String(number % size).padStart(digits, "0").replace(/0+$/, "");
  return String(number / size) + (digits > 0 && fraction ? `.${fraction}` : "");
}
