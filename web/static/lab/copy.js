// @ts-check
// The lanes as code: TOML for the configuration, Go for the library, JSON for the API.

import { t } from "../text/text.js";
import { algorithmOf } from "../app/words/algorithms.js";
import { nanoseconds } from "../app/words/lengths.js";
/** @import { Lane, Limit } from "./state.js" */

/** @param {Limit} limit */
const entries = ({ name, algorithm, ...rest }) => [["name", name], ["algorithm", algorithm], ...Object.entries(rest).filter(([, value]) => value !== undefined && value !== "")];

/** @param {Lane[]} lanes @param {(limit: Limit) => string} write @param {string} comment */
const each = (lanes, write, comment) => lanes.map(({ limits }, i) => (lanes.length > 1 ? `${comment} ${t("lab.copy-lane", { number: i + 1 })}\n` : "") + limits.map(write).join("\n")).join("\n");

/** @param {Lane[]} lanes */
export const toml = (lanes) => (lanes.length > 1 ? `# ${t("lab.copy-lanes")}\n` : "") + each(lanes, (limit) => "[[limit]]\n" + entries(limit).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`).join(""), "#");

/** @param {Lane[]} lanes */
export const json = (lanes) => JSON.stringify(lanes.length === 1 ? { limits: lanes[0].limits } : { lanes: lanes.map(({ limits }) => ({ limits })) }, null, 2) + "\n";

/** @type {[name: string, ns: bigint][]} */
const units = [["time.Hour", 3_600_000_000_000n], ["time.Minute", 60_000_000_000n], ["time.Second", 1_000_000_000n], ["time.Millisecond", 1_000_000n], ["time.Microsecond", 1000n], ["time.Nanosecond", 1n]];

// goDuration writes a duration in the largest unit that divides it: "4 * time.Second".
/** @param {string} text */
export function goDuration(text) {
  const ns = nanoseconds(text);
  const [unit, size] = units.find(([, size]) => ns % size === 0n);
  return ns === size ? unit : `${ns / size} * ${unit}`;
}

/** @param {string} word */
const camel = (word) => word.split(/[-_]/).map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join("");

/** @param {Limit} limit @param {string} key @param {unknown} value */
function goValue(limit, key, value) {
  if (key === "algorithm") return `chatguard.${camel(String(value))}`;
  if (key === "per") return `chatguard.Per${camel(String(value))}`;
  return algorithmOf(limit).fields[key]?.isLength ? goDuration(String(value)) : JSON.stringify(value);
}

/** @param {Lane[]} lanes */
export const go = (lanes) => each(lanes, (limit) => `chatguard.Limit{${entries(limit).map(([key, value]) => `${camel(String(key))}: ${goValue(limit, String(key), value)}`).join(", ")}},`, "//") + "\n";
