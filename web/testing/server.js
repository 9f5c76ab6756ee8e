// A server for tests of the pages. It answers as answers.json says, which a test of the real server
// keeps true, or as a test says. Each answer must agree with openapi.json, and so must each body
// that a page sends, so that no test rests on an answer that the real server doesn't give.

import { readFileSync } from "node:fs";

const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { paths, components } = read("../static/openapi.json");
const recorded = read("answers.json");
const noRates = Array(720).fill(null);
const usual = {
  ...recorded,
  "GET /algorithms": read("../test/algorithms.json"),
  "GET /rates": { from: "2026-11-03T11:00:00Z", step_seconds: 5, messages: noRates, throttled: noRates, observed: noRates, low: noRates },
  "POST /session": recorded["GET /session"],
};

/** @type {{method: string, path: string, query: Record<string, string>, body: any, headers: Headers, signal?: AbortSignal}[]} */
export const requests = []; // of the pages, in their order

/** @type {Map<string, any>} */
let answers = new Map();

// restart forgets what tests have said and pages have asked.
export function restart() {
  answers = new Map(Object.entries(structuredClone(usual)));
  answer("GET /setup", refuse(501, "There is no bot on Twitch to set up here."));
  requests.length = 0;
}

// answer sets the answer to a request such as "GET /channels/7/policy": a body, or a function that
// gets the request and returns or promises one. refuse makes a body that is a failure.
export function answer(request, body) {
  answers.set(request, body);
}

// usualAnswer returns the usual answer to a request, to be changed and given to answer.
export const usualAnswer = (request) => structuredClone(usual[request]);

class Refusal {
  constructor(status, detail, more) {
    this.body = { type: "about:blank", title: "Refused", status, detail, ...more };
    this.status = status;
  }
}

// refuse is the answer to a request that fails; status 0 is no answer at all.
export const refuse = (status, detail, more) => new Refusal(status, detail, more);

// withTag is an answer with an ETag.
export const withTag = (tag, body) => new Tagged(tag, body);

class Tagged {
  constructor(tag, body) {
    this.tag = tag;
    this.body = body;
  }
}

globalThis.fetch = async (address, { method = "GET", body, headers = {}, signal } = {}) => {
  const url = new URL(address, document.baseURI);
  const path = decodeURI(url.pathname.replace(/^.*\/api\/v1/, ""));
  const request = { method, path, query: Object.fromEntries(url.searchParams), body: body && JSON.parse(body), headers: new Headers(headers), signal };
  requests.push(request);
  const operation = operationOf(method, path);
  if (request.body) check(operation.requestBody.content["application/json"].schema, request.body, `${method} ${path}: body`);
  const name = `${method} ${path}`;
  if (!answers.has(name)) throw fail(`no answer to ${name}: give one with answer("${name}", …)`);
  const known = answers.get(name);
  let found = typeof known === "function" ? await known(request) : known;
  signal?.throwIfAborted();
  let status = 200, tag = "", write = JSON.stringify;
  if (found instanceof Tagged) ({ tag, body: found } = found);
  if (found instanceof Refusal) {
    if (found.status === 0) throw new TypeError("no answer");
    ({ status, body: found } = found);
  } else if (found === undefined || found === null) {
    return new Response(null, { status: 204 });
  } else {
    const [[type, { schema }]] = Object.entries(operation.responses["200"].content);
    if (type !== "application/json") write = String;
    check(schema, found, name);
  }
  return new Response(write(found), { status, headers: tag ? { ETag: tag } : {} });
};

/** @type {string[]} */
export const faults = []; // of the tests' answers and the pages' requests

function fail(what) {
  faults.push(what);
  return new TypeError(what);
}

function operationOf(method, path) {
  for (const [pattern, methods] of Object.entries(paths)) {
    const matches = new RegExp("^" + pattern.replace(/\{[^}]*\}/g, "[^/]+") + "$").test(path);
    if (matches && methods[method.toLowerCase()]) return methods[method.toLowerCase()];
  }
  throw fail(`openapi.json has no ${method} ${path}`);
}

// check fails if a value doesn't agree with its schema.
export function check(schema, value, where) {
  const problem = problemOf(schema, value, where);
  if (problem) throw fail(`${problem} (see openapi.json)`);
}

function typeOf(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function problemOf(schema, value, where) {
  if (schema.$ref) return problemOf(components.schemas[schema.$ref.split("/").at(-1)], value, where);
  if (schema.anyOf) return schema.anyOf.every((one) => problemOf(one, value, where)) ? `${where} is none of its kinds` : "";
  const type = typeOf(value), types = [schema.type ?? type].flat();
  if (!types.includes(type) && !(type === "integer" && types.includes("number"))) return `${where} is of type ${type}, not ${types}`;
  if (schema.enum && !schema.enum.includes(value)) return `${where} is ${JSON.stringify(value)}, not one of ${schema.enum}`;
  if (value < schema.minimum || value > schema.maximum) return `${where} is ${value}`;
  if (type === "array") return !schema.items ? "" : value.map((item, i) => problemOf(schema.items, item, `${where}[${i}]`)).find(Boolean) ?? "";
  if (type !== "object") return "";
  const { properties = {}, required = [], additionalProperties: others } = schema;
  for (const name of required) if (value[name] === undefined) return `${where}.${name} is missing`;
  for (const [name, item] of Object.entries(value)) {
    const of = properties[name] ?? (typeof others === "object" ? others : others === false ? null : {});
    if (!of) return `${where}.${name} is unknown`;
    const problem = item === undefined ? "" : problemOf(of, item, `${where}.${name}`);
    if (problem) return problem;
  }
  return "";
}

/** @type {Set<Feed>} */
export const feeds = new Set(); // the open feeds of the pages

// Feed stands for the WebSocket of the live feed.
class Feed {
  constructor(address) {
    this.address = String(address);
    this.channel = new URL(address).searchParams.get("channel");
    feeds.add(this);
    const frame = answers.get(`frame ${this.channel}`) ?? answers.get("frame");
    queueMicrotask(() => feeds.has(this) && this.send(frame && { ...frame, now: new Date().toISOString() }));
  }
  send(frame) {
    if (!frame) return;
    check({ $ref: "#/components/schemas/Frame" }, frame, "frame");
    this.onmessage?.({ data: JSON.stringify(frame) });
  }
  close() {
    feeds.delete(this);
  }
}
globalThis.WebSocket = Feed;

let sent = 0;

// send sends a frame to the pages that follow its channel: a snapshot's frame with what the test
// changes.
export function send(frame) {
  const { seq, channel } = usual.frame;
  const whole = { seq: seq + ++sent, now: new Date().toISOString(), channel, ...frame };
  for (const feed of feeds) if ([whole.channel, ""].includes(feed.channel)) feed.send(whole);
}

// hangUp ends the feeds, as a server that stops or refuses.
export function hangUp(code = 1006, reason = "") {
  for (const feed of [...feeds]) {
    feeds.delete(feed);
    feed.onclose?.({ code, reason });
  }
}
