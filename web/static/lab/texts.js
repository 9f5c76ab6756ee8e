// @ts-check
// The texts that change with time: the state of each lane, its figures, the clock and the log. They
// are written directly, so that the page isn't drawn again for them.

import { t } from "../text/text.js";
import { isText } from "../app/words/scopes.js";
import { clockText, spanText } from "./clock.js";
import { drawingOf } from "./draw/drawings.js";
import { createTally } from "./figures.js";
import { say, writeLog } from "./log.js";
import { textWords } from "./names.js";
import { fixed } from "./numbers.js";
import { played } from "./player.js";
import { showName } from "./pointer.js";
import { numbersOf, places } from "./stage.js";
import { lab } from "./state.js";
import { emptyStrip, extraOf, lastBy } from "./tape.js";
/** @import { TextKey } from "../text/text.js" */
/** @import { Moment } from "./draw/view.js" */
/** @import { Figures } from "./figures.js" */
/** @import { Lane } from "./state.js" */
/** @import { Strip } from "./tape.js" */

/** @type {WeakMap<Strip, ReturnType<typeof createTally>>} */
const tallies = new WeakMap();

// figuresOf returns the figures of a lane up to a lab time.
/** @param {Lane} lane @param {number} now */
export function figuresOf(lane, now) {
  const strip = played.tape.get(lane.id) ?? emptyStrip;
  if (!tallies.has(strip)) tallies.set(strip, createTally(strip.entries));
  return { figures: tallies.get(strip)(now), bytes: strip.bytes };
}

/** @param {string} id @param {string} text */
function put(id, text) {
  const place = document.getElementById(id);
  if (place && place.textContent !== text) place.textContent = text;
  return place;
}

// writeTexts writes everything that changes with time.
/** @param {number} now */
export function writeTexts(now) {
  put("lab-time", clockText(now));
  for (const lane of lab.lanes) writeLane(lane, now);
  const hint = document.getElementById("nothing-sent");
  if (hint) hint.hidden = [...played.tape.values()].some(({ entries }) => entries.length > 0);
  writeLog(now);
  writeTable(now);
  tellHand(now);
}

/** @param {Lane} lane @param {number} now */
function writeLane(lane, now) {
  const strip = played.tape.get(lane.id) ?? emptyStrip, { entries, hasUsers } = strip, last = lastBy(entries, now);
  const user = hasUsers && last >= 0 ? entries[last].name : ""; // the state is that of one user
  const { figures, bytes } = figuresOf(lane, now);
  let wait = 0, same = 0, isGranted = false; // same is the wait of the last message's text
  lane.limits.forEach((limit, index) => {
    /** @type {Moment} */
    const moment = { entries, last, index, per: limit.per, numbers: numbersOf(limit), now, start: lab.start };
    const drawing = drawingOf(limit.algorithm), state = drawing.at(moment);
    const { extra, isNew } = extraOf(strip, index, now);
    const words = extra > 0 ? t("lab.with-extra", { n: extra, state: drawing.words(state, moment) }) : drawing.words(state, moment);
    put(`words-${lane.id}-${index}`, isText(limit) ? textWords(entries[last], index, words, figures) : user ? t("lab.state-of", { user, state: words }) : words);
    if (isText(limit)) same = Math.max(same, drawing.wait(state, moment));
    else if (extra === 0) wait = Math.max(wait, drawing.wait(state, moment));
    isGranted ||= isNew;
  });
  const refused = entries[last]?.mark === "throttled" && !isGranted ? entries[last] : null;
  if (refused) { // as the engine said
    const left = Math.max(0, refused.at + refused.retry - now);
    if (isText(lane.limits.find(({ name }) => name === refused.limit) ?? {})) same = left;
    else wait = left;
  }
  const place = put(`wait-${lane.id}`, wait === 0 && same > 0 && same < Infinity ? t("lab.same-in", { time: spanText(same) }) : waitText(wait));
  place?.classList.toggle("is-waiting", wait > 0);
  put(`tally-${lane.id}`, tallyText(figures, bytes));
  if (places.get(lane.id)?.chosen >= 0) showName(lane.id);
}

/** @param {number} wait */
const waitText = (wait) => (wait === Infinity ? t("lab.never") : wait > 0 ? t("lab.throttled-for", { time: spanText(wait) }) : t("lab.ready"));

/** @param {Figures} figures @param {number} bytes */
function tallyText({ allowed, low, throttled, mostInMinute }, bytes) {
  const marks = [`● ${allowed - low}`, low > 0 && `◐ ${low}`, `⊖ ${throttled}`].filter(Boolean).join("  ");
  return [marks, t("lab.most-in-minute", { most: mostInMinute }), bytes > 0 && t("lab.bytes", { bytes })].filter(Boolean).join(" · ");
}

// columns are the figures of the table, by the suffix of the cell's ID.
/** @type {[id: string, title: TextKey, text: (figures: Figures, bytes: number, now: number) => string][]} */
export const columns = [
  ["allowed", "lab.column-allowed", ({ allowed }) => String(allowed)],
  ["throttled", "lab.column-throttled", ({ throttled }) => String(throttled)],
  ["low", "lab.column-low", ({ low }) => String(low)],
  ["mean", "lab.column-mean", ({ allowed }, _, now) => (now > 0 ? fixed((allowed * 60_000) / now, 1) : "–")],
  ["second", "lab.column-second", ({ mostInSecond }) => String(mostInSecond)],
  ["minute", "lab.column-minute", ({ mostInMinute }) => String(mostInMinute)],
  ["wait", "lab.column-wait", ({ longestWait, longestDelay }) => span(Math.max(longestWait, longestDelay))],
  ["silence", "lab.column-silence", ({ longestSilence }) => span(longestSilence)],
  ["bytes", "lab.column-bytes", (_, bytes) => (bytes > 0 ? String(bytes) : "–")],
];

/** @param {number} ms */
const span = (ms) => (ms > 0 ? spanText(ms) : "–");

// attributes are the figures as data- attributes of a row of the table, for tools. They have the
// names and the units of the API.
/** @type {Record<string, (figures: Figures, bytes: number) => number>} */
const attributes = {
  allowed: ({ allowed }) => allowed,
  throttled: ({ throttled }) => throttled,
  low: ({ low }) => low,
  "most-in-a-second": ({ mostInSecond }) => mostInSecond,
  "most-in-a-minute": ({ mostInMinute }) => mostInMinute,
  "longest-wait-ms": ({ longestWait }) => Math.ceil(longestWait),
  "longest-delay-ms": ({ longestDelay }) => Math.ceil(longestDelay),
  "longest-silence-ms": ({ longestSilence }) => Math.ceil(longestSilence),
  "bytes-per-user": (_, bytes) => bytes,
};

/** @param {Element | null} row @param {string} name @param {string} value */
function mark(row, name, value) {
  if (row && row.getAttribute(`data-${name}`) !== value) row.setAttribute(`data-${name}`, value);
}

/** @param {number} now */
function writeTable(now) {
  for (const lane of lab.lanes) {
    const { figures, bytes } = figuresOf(lane, now);
    const row = document.getElementById(`figures-${lane.id}`);
    mark(row, "at-ms", String(Math.round(now)));
    for (const [name, of] of Object.entries(attributes)) mark(row, name, String(of(figures, bytes)));
    for (const [id, , text] of columns) put(`figure-${lane.id}-${id}`, text(figures, bytes, now));
  }
}

let told = 0; // messages sent by hand that have been announced

// tellHand announces what became of a message sent by hand, once it is decided.
/** @param {number} now */
function tellHand(now) {
  const { sent } = lab;
  if (sent.length <= told) {
    told = sent.length;
    return;
  }
  const { at, lane } = sent.at(-1);
  const got = lab.lanes.filter(({ id }) => lane === undefined || lane === id).map(({ id }) => (played.tape.get(id) ?? emptyStrip).entries);
  const entries = got.map((entries) => entries[lastBy(entries, now)]);
  if (entries.some((entry) => entry?.at !== at)) return;
  told = sent.length;
  const throttled = entries.filter(({ mark }) => mark === "throttled").length, passed = entries.length - throttled;
  if (throttled === 0) say(t("lab.passed-in", { n: passed }));
  else if (passed === 0) say(t("lab.throttled-in", { n: throttled }));
  else say(t("lab.passed-and-throttled", { passed: lanes(passed), throttled: lanes(throttled) }));
}

/** @param {number} n */
const lanes = (n) => t("lab.count-lanes", { n });
