// @ts-check
// A limit as a text in an address: "burst:token-bucket,burst=3,refill=4s". The name is optional.

import { algorithmOf } from "./algorithms.js";
import { durationText, nanoseconds } from "./lengths.js";

/**
 * LimitParts is what a text says about a limit; none of it has been checked.
 * @typedef {object} LimitParts
 * @property {string} name empty if the text has none
 * @property {string} algorithm likewise
 * @property {[key: string, value: string][]} values
 * @property {string[]} unread parts that are neither an algorithm nor a value
 */

/** @type {(keyof Api.Limit)[]} */
const others = ["timezone", "reset_at", "period", "first_day", "per", "similar", "from_length", "count_emotes", "strikes", "count_throttled"];

// limitText writes a limit without its mode and its roles' numbers.
/** @param {Api.Limit} limit */
export function limitText(limit) {
  /** @type {Record<string, any>} */
  const values = limit;
  const numbers = Object.entries(algorithmOf(limit).fields).filter(([name]) => values[name] !== undefined).map(([name, { isLength }]) => {
    return `${name}=${isLength ? durationText(nanoseconds(values[name])) : values[name]}`;
  });
  const texts = others.filter((key) => values[key]).map((key) => `${key}=${readable(String(values[key]))}`);
  return `${limit.name}:${[limit.algorithm, ...numbers, ...texts].join(",")}`;
}

// readable encodes a value for an address, except what may stay there as it is.
/** @param {string} value */
const readable = (value) => encodeURIComponent(value).replaceAll("%2F", "/").replaceAll("%3A", ":");

// readLimit reads a text that limitText, or a person, has written.
/** @param {string} text @returns {LimitParts} */
export function readLimit(text) {
  const [, name = "", rest] = /^(?:([^:,=]*):)?(.*)$/s.exec(text.trim());
  /** @type {LimitParts} */
  const parts = { name: name.trim(), algorithm: "", values: [], unread: [] };
  for (const part of rest.split(",").map((each) => each.trim()).filter(Boolean)) {
    const [key, ...value] = part.split("=");
    if (value.length > 0) parts.values.push([key, value.join("=")]);
    else if (parts.algorithm === "") parts.algorithm = part;
    else parts.unread.push(part);
  }
  return parts;
}
