// @ts-check
// The link of a scene: a readable fragment, such as
// #lanes=token-bucket,burst=3,refill=4s;sliding-log,messages=15,every=60s&traffic=bursts,size=6,every=20s&speed=10

import { t } from "../text/text.js";
import { algorithmNames, algorithmOf } from "../app/words/algorithms.js";
import { durationText, parseLength } from "../app/words/lengths.js";
import { speeds } from "./clock.js";
import { readField } from "./fields.js";
import { mostLanes, mostLimits, newLimit } from "./limits.js";
import { newLane, newYear } from "./state.js";
import { byHand } from "./tape.js";
import { errorOf, fieldsOf, kinds } from "./traffic.js";
/** @import { Gift, Lane, Limit, Sent, Setup, Traffic } from "./state.js" */

const longestSent = 200; // messages that a link holds; likewise grants

// words are the keys of a limit whose values are texts as they are.
const words = ["name", "per", "timezone", "reset_at", "period", "first_day", "count_throttled", "similar", "count_emotes", "strikes"];

// numbers are keys of a limit with a number that isn't one of its algorithm's.
const numbers = ["from_length"];

// encode writes a value so that it can't be taken for a separator.
/** @param {unknown} value */
const encode = (value) => encodeURIComponent(String(value)).replace(/%(2F|3A|40)/g, decodeURIComponent);

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// print returns the fragment of a setup.
/** @param {Setup} of */
export function print({ lanes, traffic, sent, grants, speed, span, start, timezone, move, scene }) {
  const { kind, ...numbers } = traffic;
  const parts = [
    scene && `scene=${encode(scene)}`,
    lanes.length > 0 && `lanes=${lanes.map(printLane).join(";")}`,
    `traffic=${[kind, ...Object.entries(numbers).filter(([, text]) => text).map(([name, text]) => `${name}=${encode(fieldsOf(kind)[name]?.isLength ? shortLength(text) : text)}`)].join(",")}`,
    sent.length > 0 && sent.length <= longestSent && `sent=${sent.map((one) => printSent(one, lanes)).join(",")}`,
    grants.length > 0 && grants.length <= longestSent && `grants=${grants.map((one) => printGrant(one, lanes)).join(";")}`,
    speed !== 1 && `speed=${speed}`,
    span > 0 && `span=${printTime(span)}`,
    start !== newYear && `start=${new Date(start).toISOString().replace(".000Z", "Z")}`,
    timezone && `timezone=${encode(timezone)}`,
    move && `move=${encode(move.timezone)},at=${printTime(move.at)}`,
  ];
  return "#" + parts.filter(Boolean).join("&");
}

/** @param {number} ms */
const printTime = (ms) => durationText(BigInt(Math.round(ms * 1e6)));

// shortLength writes a duration as the API does, in whatever language it was typed. Any other text
// stays as it is.
/** @param {string} text */
const shortLength = (text) => (parseLength(text) === null ? text : durationText(parseLength(text)));

/** @param {Sent} sent @param {Lane[]} lanes */
function printSent({ at, lane }, lanes) {
  const number = lanes.findIndex(({ id }) => id === lane) + 1;
  return Number((at / 1000).toFixed(3)) + (lane === undefined ? "" : `@${number}`);
}

/** @param {Gift} of @param {Lane[]} lanes */
const printGrant = ({ at, lane, messages, user }, lanes) => `${printSent({ at, lane }, lanes)},messages=${messages}${user === byHand ? "" : `,user=${encode(user)}`}`;

/** @param {Lane} lane */
const printLane = ({ limits }) => limits.map((limit, i) => printLimit(limit, limits.slice(0, i))).join("+");

/** @param {Limit} limit @param {Limit[]} before */
function printLimit({ algorithm, name, ...rest }, before) {
  const isUsual = name === newLimit(algorithm, before).name;
  const values = Object.entries(rest).filter(([, value]) => typeof value !== "object" && value !== undefined);
  return [(isUsual ? "" : `${encode(name)}:`) + algorithm, ...values.map(([key, value]) => `${key}=${encode(value)}`)].join(",");
}

/**
 * Read has the parts of a setup that a link contains, and the parts of the link that mean nothing.
 * @typedef {{setup: Partial<Setup>, unknown: string[]}} Read
 */

/** @type {Record<string, (text: string, read: Read) => void>} */
const readers = {
  lanes: (text, read) => (read.setup.lanes = readLanes(text, read.unknown)),
  traffic: (text, read) => {
    const traffic = readTraffic(text, read.unknown);
    if (traffic) read.setup.traffic = traffic;
  },
  sent: (text, read) => (read.setup.sent = readSent(text, read)),
  grants: (text, read) => (read.setup.grants = readGrants(text, read)),
  speed: (text, read) => {
    if (speeds.includes(Number(text))) read.setup.speed = Number(text);
    else read.unknown.push(`speed=${text}`);
  },
  span: (text, read) => readTime(text, `span=${text}`, read, (time) => (read.setup.span = time)),
  at: (text, read) => {
    if (text === "end") read.setup.at = Infinity;
    else readTime(text, `at=${text}`, read, (time) => (read.setup.at = time));
  },
  start: (text, read) => {
    if (Number.isNaN(Date.parse(text))) read.unknown.push(`start=${text}`);
    else read.setup.start = Date.parse(text);
  },
  timezone: (text, read) => (read.setup.timezone = text),
  move: (text, read) => {
    const [, timezone, time] = /^([^,]+),at=(.+)$/.exec(text) ?? [];
    readTime(time ?? "", `move=${text}`, read, (at) => (read.setup.move = { at, timezone }));
  },
  scene: (text, read) => (read.setup.scene = text),
};

const nested = ["lanes", "traffic", "grants"]; // have parts that are decoded one by one

// parse reads a fragment. The engine's table of algorithms must be loaded.
/** @param {string} fragment @returns {Read} */
export function parse(fragment) {
  /** @type {Read} */
  const read = { setup: {}, unknown: [] };
  const parts = fragment.replace(/^#/, "").split("&").filter(Boolean);
  const isLanes = (/** @type {string} */ part) => part.startsWith("lanes=");
  for (const part of parts.sort((a, b) => Number(isLanes(b)) - Number(isLanes(a)))) {
    const [key, text] = cut(part);
    if (Object.hasOwn(readers, key) && text !== "") readers[key](nested.includes(key) ? text : decode(text), read);
    else read.unknown.push(decode(part));
  }
  return read;
}

/** @param {string} part @returns {[string, string]} */
function cut(part) {
  const at = part.indexOf("=");
  return at < 0 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
}

/** @param {string} text @param {string} part @param {Read} read @param {(ms: number) => void} found */
function readTime(text, part, read, found) {
  const ns = parseLength(text);
  if (ns === null) read.unknown.push(part);
  else found(Number(ns) / 1e6);
}

/** @param {string} text @param {string[]} unknown @returns {Lane[]} */
function readLanes(text, unknown) {
  const lanes = text.split(";").filter(Boolean).map((lane) => readLane(lane, unknown)).filter((limits) => limits.length > 0);
  for (const _ of lanes.slice(mostLanes)) unknown.push(t("lab.extra-lane", { most: mostLanes }));
  return lanes.slice(0, mostLanes).map(newLane);
}

/** @param {string} text @param {string[]} unknown @returns {Limit[]} */
function readLane(text, unknown) {
  /** @type {Limit[]} */
  const limits = [];
  const parts = text.split("+");
  for (const part of parts.slice(mostLimits)) unknown.push(t("lab.extra-limit", { part: decode(part), most: mostLimits }));
  for (const part of parts.slice(0, mostLimits)) {
    const limit = readLimit(part, limits, unknown);
    if (limit) limits.push(limit);
  }
  return limits;
}

/** @param {string} text @param {Limit[]} others @param {string[]} unknown @returns {Limit | null} */
function readLimit(text, others, unknown) {
  const [head, ...parts] = text.split(",");
  const [name, algorithm] = head.includes(":") ? head.split(":") : ["", head];
  if (!algorithmNames().includes(algorithm)) {
    unknown.push(decode(head));
    return null;
  }
  const limit = newLimit(algorithm, others), { fields } = algorithmOf(limit);
  if (name) limit.name = decode(name);
  /** @type {Record<string, unknown>} */
  const values = limit;
  for (const part of parts) {
    const [key, coded] = cut(part), value = decode(coded);
    const read = fields[key] ? readField(fields[key], value) : words.includes(key) && value ? { value: value === "true" ? true : value } : numbers.includes(key) && /^\d{1,9}$/.test(value) ? { value: Number(value) } : {};
    if (read.value === undefined) unknown.push(`${algorithm}, ${key}=${value}`);
    else values[key] = read.value;
  }
  return limit;
}

/** @param {string} text @param {string[]} unknown @returns {Traffic | null} */
function readTraffic(text, unknown) {
  const [kind, ...parts] = text.split(",");
  if (!Object.hasOwn(kinds, kind)) {
    unknown.push(`traffic=${decode(kind)}`);
    return null;
  }
  /** @type {Traffic} */
  const traffic = { kind };
  for (const part of parts) {
    const [key, coded] = cut(part), value = decode(coded), field = fieldsOf(kind)[key];
    if (!field || errorOf(field, value)) unknown.push(`${kind}, ${decode(part)}`);
    else traffic[key] = value;
  }
  for (const [key, { usual }] of Object.entries(kinds[kind].fields)) if (usual) traffic[key] ??= usual;
  return traffic;
}

/** @param {string} text @param {Read} read @returns {Sent[]} */
function readSent(text, read) {
  /** @type {Sent[]} */
  const sent = [];
  for (const part of text.split(",")) {
    const [, time, , number] = /^(\d+(\.\d+)?)(?:@(\d))?$/.exec(part) ?? [];
    const lane = number && read.setup.lanes?.[Number(number) - 1]?.id;
    if (!time || (number && !lane)) read.unknown.push(`sent=${part}`);
    else sent.push({ at: Number(time) * 1000, ...(lane && { lane }) });
  }
  return sent.sort((a, b) => a.at - b.at);
}

/** @param {string} text @param {Read} read @returns {Gift[]} */
function readGrants(text, read) {
  /** @type {Gift[]} */
  const grants = [];
  for (const part of text.split(";")) {
    const [, time, number, messages, user] = /^(\d+(?:\.\d+)?)@(\d),messages=(\d{1,7})(?:,user=([^,]+))?$/.exec(part) ?? [];
    const lane = read.setup.lanes?.[Number(number) - 1]?.id;
    if (!lane || Number(messages) === 0) read.unknown.push(`grants=${decode(part)}`);
    else grants.push({ at: Number(time) * 1000, lane, messages: Number(messages), user: user ? decode(user) : byHand });
  }
  return grants.sort((a, b) => a.at - b.at);
}
