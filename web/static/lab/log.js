// @ts-check
// The last events of the scene as a list, and what is announced to screen readers.

import { t } from "../text/text.js";
import { html } from "../vendor/htm-preact.js";
import { titleOf } from "./limits.js";
import { fateOf, timeText } from "./names.js";
import { played } from "./player.js";
import { lab } from "./state.js";
import { emptyStrip, lastBy } from "./tape.js";

const kept = 10; // events
const sayEvery = 1000; // ms between two sentences

// lastEvents returns the last events of all lanes by a lab time, the newest first.
/** @param {number} now @returns {string[]} */
export function lastEvents(now) {
  const events = lab.lanes.flatMap((lane, i) => {
    const { entries, grants } = played.tape.get(lane.id) ?? emptyStrip;
    const last = lastBy(entries, now);
    const fates = entries.slice(Math.max(0, last + 1 - kept), last + 1).map((entry) => ({ at: entry.at, fate: fateOf(entry, now) }));
    const gifts = grants.filter(({ at }) => at <= now).slice(-kept).map(({ at, messages }) => ({ at, fate: t("lab.granted", { n: messages }) }));
    return [...fates, ...gifts].map(({ at, fate }) => ({ at, text: `${timeText(at)} · ${i + 1} ${titleOf(lane)} · ${fate}` }));
  });
  return events.sort((a, b) => b.at - a.at).slice(0, kept).map(({ text }) => text);
}

export const Log = () => html`
  <section class="log" aria-labelledby="log-title">
    <h2 class="headline" id="log-title">${t("lab.events")}</h2>
    <ol id="log"></ol>
    <p class="muted" id="log-empty">${t("lab.no-messages")}</p>
  </section>
`;

// writeLog writes the last events into the list.
/** @param {number} now */
export function writeLog(now) {
  const list = document.getElementById("log");
  if (!list) return;
  const texts = lastEvents(now);
  document.getElementById("log-empty").hidden = texts.length > 0;
  while (list.children.length > texts.length) list.lastChild.remove();
  texts.forEach((text, i) => {
    const item = list.children[i] ?? list.appendChild(document.createElement("li"));
    if (item.textContent !== text) item.textContent = text;
  });
}

let saidAt = -Infinity, timer = 0, waiting = "";

// say announces a sentence, at most one per second. Of several pending ones, it announces only the
// newest.
/** @param {string} sentence */
export function say(sentence) {
  waiting = sentence;
  if (timer) return;
  timer = window.setTimeout(announce, Math.max(0, saidAt + sayEvery - performance.now()));
}

function announce() {
  timer = 0;
  saidAt = performance.now();
  const place = document.getElementById("said");
  if (place) place.textContent = waiting;
}
