// @ts-check
// The experiment "At the edge": the most that limits of 15 a minute let through in any stretch of a
// minute, and how a sender gets it.

import { commas, t } from "../../text/text.js";
import { Chart, Swatch } from "../../app/widgets/chart.js";
import { algorithmOf } from "../../app/words/algorithms.js";
import { html } from "../../vendor/htm-preact.js";
import { secondsText } from "../clock.js";
import { judge } from "../engine.js";
import { newYear } from "../state.js";
import { stripOf } from "../tape.js";
import { Problem } from "./parts.js";
import { useAnswer } from "./question.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Limit } from "../state.js" */

const minute = 60_000; // ms
const messages = 15, every = "1m";

/**
 * Contender is a limit with the sender who gets the most messages through it. If opens is true, the
 * sender opens a window with one message, long before the others.
 * @typedef {object} Contender
 * @property {Limit} limit
 * @property {TextKey} [name] if it isn't that of the algorithm
 * @property {boolean} opens
 * @property {TextKey} reason
 * @property {string} colour
 * @property {number} signedAt where its sign is on its curve, s: not where another curve is
 * @property {number[]} dash
 */

/** @type {Contender[]} */
const contenders = [
  { limit: { name: "window", algorithm: "fixed-window", messages, every }, opens: false, colour: "--series-throttled", signedAt: 66, dash: [], reason: "lab.edge-why-fixed" },
  { limit: { name: "window", algorithm: "user-window", messages, every }, opens: true, colour: "--bad", signedAt: 84, dash: [10, 4], reason: "lab.edge-why-user" },
  { limit: { name: "window", algorithm: "sliding-window", messages, every }, opens: false, colour: "--sev-timeout", signedAt: 78, dash: [2, 4], reason: "lab.edge-why-sliding" },
  { limit: { name: "window", algorithm: "sliding-log", messages, every }, opens: false, colour: "--good", signedAt: 100, dash: [12, 4, 2, 4], reason: "lab.edge-why-log" },
  { name: "lab.edge-tokens", limit: { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" }, opens: false, colour: "--accent", signedAt: 90, dash: [6, 3], reason: "lab.edge-why-tokens" },
  { name: "lab.edge-queue", limit: { name: "queue", algorithm: "leaky-bucket", every: "4s", queue: 0 }, opens: false, colour: "--muted", signedAt: 86, dash: [1, 3], reason: "lab.edge-why-queue" },
];

// toldOf returns what tells a contender's curve from the others without its colour.
/** @param {Contender} one @param {number} i */
const toldOf = ({ signedAt: at, dash }, i) => ({ sign: String(i + 1), at, dash });

/** @param {Contender} of */
const nameOf = ({ name, limit }) => (name ? t(name) : algorithmOf(limit).name);

const tryEvery = 250; // ms between two tries after the full minute
const rush = 40; // tries just before the full minute, and at it

// afterMinute are the tries from one to three minutes, ms, with one at the last moment before two.
const afterMinute = [...Array.from({ length: (2 * minute) / tryEvery }, (_, i) => minute + i * tryEvery), 2 * minute - 1].sort((a, b) => a - b);

// triesOf returns the lab times at which a sender tries, ms. What is refused costs nothing.
/** @param {boolean} opens */
const triesOf = (opens) => [...(opens ? [0] : []), ...Array(rush).fill(minute - 1), ...Array(rush).fill(minute), ...afterMinute];

/** @typedef {{edges: number[], times: number[][]}} Found times are those at which messages left, by contender */

/** @returns {Promise<Found>} */
async function ask() {
  const { lanes: edges } = await judge({ lanes: lanesOf(contenders), edge: "60s" });
  /** @type {Map<Contender, number[]>} */
  const times = new Map();
  for (const opens of [false, true]) {
    const asked = contenders.filter((one) => one.opens === opens);
    const sent = triesOf(opens).map((at) => ({ at: newYear + at, user_id: "anna" }));
    const { lanes } = await judge({ lanes: lanesOf(asked), messages: sent });
    lanes.forEach((lane, i) => times.set(asked[i], stripOf(sent, lane, newYear).entries.filter(({ mark }) => mark !== "throttled").map(({ leaves }) => leaves)));
  }
  return { edges: edges.map(({ edge }) => edge), times: contenders.map((one) => times.get(one)) };
}

/** @param {Contender[]} all */
const lanesOf = (all) => all.map(({ limit }) => ({ limits: [limit] }));

// recentAt returns how many of the times are in the minute that ends at a time.
/** @param {number[]} times @param {number} now */
export const recentAt = (times, now) => times.filter((time) => time > now - minute && time <= now).length;

export function Edge() {
  const { answer, problem } = useAnswer(ask, []);
  return html`
    <div class="experiment" id="edge">
      <${Problem} text=${problem} />
      ${answer ? html`<${Curves} found=${answer} /><${Finding} edges=${answer.edges} /><${Table} edges=${answer.edges} />` : !problem && html`<div class="chart to-come"></div>`}
    </div>
  `;
}

const shownUntil = 130; // s
const height = 280; // px

/** @param {{found: Found}} props */
function Curves({ found: { times, edges } }) {
  const at = [50, minute / 1000 - 0.001, ...afterMinute.map((time) => time / 1000)].filter((second) => second <= shownUntil);
  const series = contenders.map((one, i) => ({ name: nameOf(one), colour: one.colour, isStepped: true, told: toldOf(one, i), values: at.map((second) => recentAt(times[i], Math.round(second * 1000))) }));
  const limits = commas(contenders.map((one, i) => t("lab.edge-through", { n: edges[i], limit: nameOf(one) })));
  return html`<${Chart} label=${t("lab.edge-chart")} summary=${t("lab.edge-summary", { limits })} at=${at} series=${series} unit=${t("lab.edge-unit")} top=${2 * messages} height=${height} across=${secondsText} />`;
}

/** @param {{edges: number[]}} props */
function Finding({ edges: [clock] }) {
  return html`<p class="finding" id="finding">${t("lab.edge-finding", { clock, messages })}</p>`;
}

/** @param {{edges: number[]}} props */
function Table({ edges }) {
  const most = Math.max(...edges);
  return html`
    <div class="chart"><div class="scrolls" tabindex="0" role="region" aria-label=${t("lab.edge-table")}>
      <table id="edge-table">
        <caption>${t("lab.edge-caption")}</caption>
        <thead><tr><th scope="col">${t("lab.edge-limit")}</th><th scope="col">${t("lab.edge-most")}</th><th scope="col" class="bar-cell"><span class="unseen">${t("lab.edge-bar")}</span></th><th scope="col" class="words">${t("lab.edge-why")}</th></tr></thead>
        <tbody>
          ${contenders.map((one, i) => html`
            <tr key=${i}>
              <th scope="row"><${Swatch} colour=${one.colour} told=${toldOf(one, i)} />${nameOf(one)}</th><td class=${edges[i] > messages ? "over" : ""}>${edges[i]}</td>
              <td class="bar-cell"><span class="bar" style=${{ width: `${(100 * edges[i]) / most}%`, background: `var(${one.colour})` }}></span></td>
              <td class="words">${t(one.reason)}</td>
            </tr>`)}
        </tbody>
      </table>
    </div></div>
  `;
}
