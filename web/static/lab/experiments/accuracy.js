// @ts-check
// The experiment "Window against log": how far off the estimate of a sliding window is, and how often
// it decides wrongly, at different rates of random traffic.

import { Chart } from "../../app/widgets/chart.js";
import { algorithmOf } from "../../app/words/algorithms.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { judge } from "../engine.js";
import { Problem, Tabs } from "./parts.js";
import { useAnswer } from "./question.js";
/** @import { Accuracy as Measured } from "../engine.js" */

const most = 50; // messages a minute that the limit allows
const rates = [10, 20, 27, 35, 40, 45, 50, 55, 60, 80]; // messages per minute
const named = 27; // the rate of the published figures
const judged = 19_000; // messages per rate, about
const fineSlices = [1, 6];

/** @typedef {{rate: number, slices: number, measured: Measured}} Point */

// slicesKnown are the numbers of slices to compare. An engine that can't count in slices has 1.
const slicesKnown = () => (algorithmOf({ algorithm: "sliding-window" }).fields.slices ? fineSlices : [1]);

/** @param {number} rate @param {number} slices @param {string} seed @returns {Promise<Point>} */
async function ask(rate, slices, seed) {
  const limit = { name: "window", algorithm: "sliding-window", messages: most, every: "1m", ...(slices > 1 && { slices }) };
  const traffic = { kind: "poisson", per_minute: rate, seed: Number(seed), for: `${Math.floor(judged / rate)}m` };
  return { rate, slices, measured: (await judge({ lanes: [{ limits: [limit] }], traffic, accuracy: true, no_steps: true })).accuracy };
}

// askAll asks one question after the other, so that the Lab stays free for others.
/** @param {string} seed */
async function askAll(seed) {
  /** @type {Point[]} */
  const points = [];
  for (const slices of slicesKnown()) for (const rate of rates) points.push(await ask(rate, slices, seed));
  return points;
}

const percents = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 3 });

/** @type {[id: string, name: string][]} */
const seeds = [["1", "Seed 1"], ["2", "Seed 2"], ["3", "Seed 3"]];

export function Accuracy() {
  const [seed, choose] = useState("1");
  const { answer, problem } = useAnswer(() => askAll(seed), [seed]);
  return html`
    <div class="experiment" id="accuracy">
      <div class="control-row"><${Tabs} label="Random traffic" choices=${seeds} chosen=${seed} onChoose=${choose} /><span class="muted">${judged.toLocaleString("en-GB")} messages at each rate; equal seeds make equal traffic.</span></div>
      <${Problem} text=${problem} />
      ${answer ? html`<${Charts} points=${answer} /><${Finding} points=${answer} /><${Table} points=${answer} />` : !problem && html`<div class="chart to-come"></div>`}
    </div>
  `;
}

/** @param {number} slices */
const windowName = (slices) => (slices === 1 ? "two windows" : `${slices} slices`);

const colours = ["--accent", "--series-throttled"];

/** @param {{points: Point[]}} props */
function Charts({ points }) {
  /** @param {(of: Measured["counted"]) => number} of */
  const seriesOf = (of) => slicesKnown().map((slices, i) => ({ name: windowName(slices), colour: colours[i], values: points.filter((point) => point.slices === slices).map(({ measured }) => of(measured.counted)) }));
  const off = seriesOf(({ mean_off_percent: percent }) => percent), wrong = seriesOf(({ wrong_percent: percent }) => percent);
  const shared = { at: rates, unit: "% ", across: rateText, moment: (/** @type {number} */ i) => `at ${rateText(rates[i])} per minute` };
  const atLimit = percents.format(wrong[0].values[rates.indexOf(most)]);
  return html`
    <div class="side-by-side">
      <div><h2 class="headline">How far off the estimate is</h2><${Chart} ...${shared} label="Mean deviation by rate" series=${off} summary="The mean deviation of the estimate from the exact count, by messages per minute." /></div>
      <div><h2 class="headline">How often it decides wrongly</h2><${Chart} ...${shared} label="Wrong decisions by rate" series=${wrong} summary=${`Wrong decisions by messages per minute. They are rare far from the limit of ${most}, and ${atLimit} % at the limit itself.`} /></div>
    </div>
  `;
}

/** @param {number} rate */
const rateText = (rate) => String(rate);

/** @param {{points: Point[]}} props */
function Finding({ points }) {
  /** @param {number} rate @param {number} [slices] */
  const at = (rate, slices = 1) => points.find((point) => point.rate === rate && point.slices === slices).measured.counted;
  const fine = slicesKnown().at(-1);
  return html`
    <p class="finding" id="finding">
      At ${named} messages a minute, about half of the limit, the estimate is <strong>${percents.format(at(named).mean_off_percent)} %</strong> off on average, and <strong>${percents.format(at(named).wrong_percent)} %</strong> of the decisions are wrong: close to what is often quoted.
      At the limit itself, <strong>${percents.format(at(most).wrong_percent)} %</strong> are wrong. ${fine > 1 && html`Counted in ${fine} slices, the estimate is ${percents.format(at(named, fine).mean_off_percent)} % off, and at the limit ${percents.format(at(most, fine).wrong_percent)} % are wrong. `}
      For small numbers, up to about 20 messages a window, take the log.
    </p>
  `;
}

/** @param {{points: Point[]}} props */
function Table({ points }) {
  return html`
    <div class="chart"><div class="scrolls" tabindex="0" role="region" aria-label="Table: window against log">
      <table id="accuracy-table">
        <caption>A sliding window of ${most} messages a minute against the exact log</caption>
        <thead><tr><th scope="col">Per minute</th><th scope="col">Counted in</th><th scope="col">Messages</th><th scope="col">Off, mean</th><th scope="col">Wrong</th><th scope="col">Window throttles</th><th scope="col">Log throttles</th><th scope="col">Most in any minute</th></tr></thead>
        <tbody>
          ${points.map(({ rate, slices, measured: { messages, counted, side_by_side: side } }) => html`
            <tr key=${`${rate} ${slices}`}>
              <th scope="row">${rate}</th><td>${windowName(slices)}</td><td>${messages.toLocaleString("en-GB")}</td>
              <td>${percents.format(counted.mean_off_percent)} %</td><td>${percents.format(counted.wrong_percent)} %</td>
              <td>${side.window_throttled.toLocaleString("en-GB")}</td><td>${side.log_throttled.toLocaleString("en-GB")}</td><td>${side.most_let_pass_in_any_window}</td>
            </tr>`)}
        </tbody>
      </table>
    </div></div>
  `;
}
