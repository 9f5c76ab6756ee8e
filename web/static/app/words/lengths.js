// @ts-check
// Durations, exact to the nanosecond: read as people write them, and written in words or as the API
// writes them. Words are those of the page's language. English ones and the API's notation are read
// in every language.

import { gap, list, locale, number } from "../../text/text.js";

/** @typedef {"week" | "day" | "hour" | "minute" | "second"} Unit */

/** @type {[name: Unit, ns: bigint][]} */
const units = [["week", 604_800_000_000_000n], ["day", 86_400_000_000_000n], ["hour", 3_600_000_000_000n], ["minute", 60_000_000_000n], ["second", 1_000_000_000n]];

/** @type {Map<string, Unit>} */
const spellings = new Map([
  ["w", "week"], ["week", "week"], ["d", "day"], ["day", "day"], ["h", "hour"], ["hr", "hour"], ["hour", "hour"], ["m", "minute"], ["min", "minute"], ["minute", "minute"],
  ["s", "second"], ["sec", "second"], ["second", "second"],
]);

const longest = 64; // characters of a typed text

// sizes are the units of the API's notation, in ns.
/** @type {Map<string, bigint>} */
const sizes = new Map([["h", 3_600_000_000_000n], ["m", 60_000_000_000n], ["s", 1_000_000_000n], ["ms", 1_000_000n], ["us", 1000n], ["µs", 1000n], ["ns", 1n]]);

// parseLength reads a duration as people write it, in ns: "30m", "1h30", "1 hour 30 minutes",
// "1.5 h". A number without a unit means seconds or, after a unit, the next smaller unit. The
// result is null if the text is something else.
/** @param {string} text */
export function parseLength(text) {
  const typed = text.trim();
  if (typed === "" || typed.length > longest) return null;
  let rest = plain(typed);
  let sum = 0n, last = -1; // last is the index of the unit before
  while (rest !== "") {
    const found = part.exec(rest);
    if (!found) return null;
    const [all, written, unit = ""] = found, count = written.replace(point, ".");
    rest = rest.slice(all.length);
    if (unit === "ms") return last === -1 && rest === "" ? times(count, sizes.get("ms")) : null;
    const place = unit === "" ? bare(last, rest) : units.findIndex(([name]) => name === unitOf(unit));
    if (place <= last || place >= units.length) return null;
    sum += times(count, units[place][1]);
    last = place;
  }
  return sum;
}

// bare returns the index of the unit of a number without one: only the last number may lack it.
/** @param {number} last @param {string} rest */
const bare = (last, rest) => (rest !== "" ? -1 : last === -1 ? units.length - 1 : last + 1);

// plain returns a text in small letters without accents, which people leave out, and with the usual
// digits.
/** @param {string} text */
const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

// point stands between a number and its fraction in the page's language, and link between the parts
// of a list.
const point = number.formatToParts(1.5)[1].value;
const link = plain(String(list(["1", "2"])[1]).trim());

// part matches a number with its unit, and what may stand before the next one.
const part = new RegExp(`^(\\d+(?:[.${point}]\\d+)?|[.${point}]\\d+)\\s*(?:(ms|\\p{L}+)\\.?)?(?:\\s*,\\s+|\\s*(?:and|${link})\\s*|\\s*)`, "u");

/** @param {string} unit */
const unitOf = (unit) => spellings.get(unit) ?? spellings.get(unit.replace(/s$/, "")) ?? ownSpellings().get(unit);

// counter returns a format that writes a number of a unit, exactly.
/** @param {Unit} unit @param {"long" | "short" | "narrow"} unitDisplay */
const counter = (unit, unitDisplay) => new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay, useGrouping: false, maximumFractionDigits: 9 });

/** @type {Map<string, Unit> | null} */
let own = null;

// ownSpellings returns how the page's language spells the units, in all its plural forms.
function ownSpellings() {
  if (own) return own;
  own = new Map();
  for (const [unit] of units) {
    for (const display of /** @type {const} */ (["long", "short", "narrow"])) {
      const format = counter(unit, display);
      for (const count of [0.5, 1, 2, 5]) {
        const spelling = format.formatToParts(count).filter(({ type }) => type === "unit").map(({ value }) => value).join("");
        own.set(plain(spelling).replace(/\.$/, ""), unit);
      }
    }
  }
  return own;
}

// times returns a decimal number of units, in ns.
/** @param {string} count @param {bigint} size */
function times(count, size) {
  const [whole, fraction = ""] = count.split(".");
  return (BigInt(whole + fraction) * size) / 10n ** BigInt(fraction.length);
}

// nanoseconds reads a duration of the API: "1m30s".
/** @param {string} text */
export function nanoseconds(text) {
  let sum = 0n;
  for (const [, count, unit] of text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) sum += times(count, sizes.get(unit));
  return sum;
}

/** @type {Map<Unit, Intl.NumberFormat>} */
const counters = new Map();

/** @param {string} count @param {Unit} unit */
function counted(count, unit) {
  if (!counters.has(unit)) counters.set(unit, counter(unit, "long"));
  return counters.get(unit).format(Number(count));
}

// lengthText writes a duration in words: "30 days", "1 hour 30 minutes", "0.5 seconds".
/** @param {bigint} ns */
export function lengthText(ns) {
  const parts = [];
  for (const [unit, size] of units.slice(1)) {
    const count = unit === "second" ? decimal(ns, 9) : String(ns / size);
    ns %= size;
    if (count !== "0") parts.push(counted(count, unit));
  }
  return (parts.join(" ") || counted("0", "second")).replaceAll(" ", gap);
}

// durationText writes a duration as the API does: "1h30m", "500ms".
/** @param {bigint} ns */
export function durationText(ns) {
  for (const [unit, digits] of /** @type {[string, number][]} */ ([["ns", 0], ["µs", 3], ["ms", 6]])) {
    if (ns > 0n && ns < 10n ** BigInt(digits + 3)) return decimal(ns, digits) + unit;
  }
  const hours = ns / sizes.get("h"), minutes = (ns / sizes.get("m")) % 60n, rest = decimal(ns % sizes.get("m"), 9);
  const parts = [hours > 0n && `${hours}h`, (minutes > 0n || (hours > 0n && rest !== "0")) && `${minutes}m`, rest !== "0" && `${rest}s`];
  return parts.filter(Boolean).join("") || "0s";
}

// typedDuration writes a duration that a person typed as the API does. Any other text stays as it
// is, and the API refuses it.
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
