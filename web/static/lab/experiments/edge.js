// @ts-check
// The experiment "At the edge": the most that limits of 15 a minute let through in any stretch of a
// minute, and how a sender gets it.

import { Chart } from "../../app/widgets/chart.js";
import { html } from "../../vendor/htm-preact.js";
import { judge } from "../engine.js";
import { newYear } from "../state.js";
import { stripOf } from "../tape.js";
import { Problem } from "./parts.js";
import { useAnswer } from "./question.js";
/** @import { Limit } from "../state.js" */

const minute = 60_000; // ms
const messages = 15, every = "1m";

/**
 * Contender is a limit with the sender who gets the most through it: if opens is true, one message
 * opens a window long before the others.
 * @typedef {object} Contender
 * @property {string} name
 * @property {Limit} limit
 * @property {boolean} opens
 * @property {string} reason
 * @property {string} colour
 */

/** @type {Contender[]} */
const contenders = [
  { name: "fixed window", limit: { name: "window", algorithm: "fixed-window", messages, every }, opens: false, colour: "--series-throttled", reason: "15 before the full minute, 15 after it" },
  { name: "user window", limit: { name: "window", algorithm: "user-window", messages, every }, opens: true, colour: "--bad", reason: "one message opens the window; 14 at its end, and 15 in the next" },
  { name: "sliding window", limit: { name: "window", algorithm: "sliding-window", messages, every }, opens: false, colour: "--sev-timeout", reason: "15 at the end of a minute count as if spread over it, so 14 more pass while they fade" },
  { name: "sliding log", limit: { name: "window", algorithm: "sliding-log", messages, every }, opens: false, colour: "--good", reason: "each message counts for exactly a minute" },
  { name: "token bucket, 3 / 4 s", limit: { name: "burst", algorithm: "token-bucket", burst: 3, refill: "4s" }, opens: false, colour: "--accent", reason: "3 tokens at once, and 14 that come back within the minute" },
  { name: "leaky bucket, 4 s", limit: { name: "queue", algorithm: "leaky-bucket", every: "4s", queue: 0 }, opens: false, colour: "--muted", reason: "one message every four seconds" },
];

const tryEvery = 250; // ms between two tries after the full minute
const rush = 40; // tries just before the full minute, and at it

// afterMinute are times in the two minutes after the full one, ms, with the last moment of the first.
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
const height = 240; // px

/** @param {{found: Found}} props */
function Curves({ found: { times, edges } }) {
  const at = [50, minute / 1000 - 0.001, ...afterMinute.map((time) => time / 1000)].filter((second) => second <= shownUntil);
  const series = contenders.map(({ name, colour }, i) => ({ name, colour, isStepped: true, values: at.map((second) => recentAt(times[i], Math.round(second * 1000))) }));
  const summary = `In the worst minute: ${contenders.map(({ name }, i) => `${edges[i]} through the ${name}`).join(", ")}.`;
  return html`<${Chart} label="Messages that passed in the last 60 seconds" summary=${summary} at=${at} series=${series} unit="in the last 60 s" top=${2 * messages} height=${height} across=${secondsText} />`;
}

/** @param {number} seconds */
const secondsText = (seconds) => `${seconds} s`;

/** @param {{edges: number[]}} props */
function Finding({ edges: [clock] }) {
  return html`
    <p class="finding" id="finding">
      Why does a fixed window let ${clock} of ${messages} through? At 60 s, its curve rises twice: by ${messages} in the last moment of one minute, and by ${messages} in the first moment of the next. The window counts from one full minute to the next, and then it forgets.
      So no window has counted more than ${messages}. A log has no such moment. A token bucket can only add what flows in meanwhile.
    </p>
  `;
}

/** @param {{edges: number[]}} props */
function Table({ edges }) {
  const most = Math.max(...edges);
  return html`
    <div class="chart"><div class="scrolls" tabindex="0" role="region" aria-label="Table: at the edge">
      <table id="edge-table">
        <caption>The most that pass in any stretch of 60 seconds, wherever it begins</caption>
        <thead><tr><th scope="col">Limit of 15 per minute</th><th scope="col">Most</th><th scope="col" class="bar-cell"><span class="unseen">As a bar</span></th><th scope="col" class="words">Why</th></tr></thead>
        <tbody>
          ${contenders.map(({ name, reason, colour }, i) => html`
            <tr key=${name}>
              <th scope="row">${name}</th><td class=${edges[i] > messages ? "over" : ""}>${edges[i]}</td>
              <td class="bar-cell"><span class="bar" style=${{ width: `${(100 * edges[i]) / most}%`, background: `var(${colour})` }}></span></td>
              <td class="words">${reason}</td>
            </tr>`)}
        </tbody>
      </table>
    </div></div>
  `;
}
