// @ts-check
// The experiment "Window against log": how far off the estimate of a sliding window is, and how
// often it decides wrongly, at different rates of random traffic.

import { number, rich, t } from "../../text/text.js";
import { Chart } from "../../app/widgets/chart.js";
import { algorithmOf } from "../../app/words/algorithms.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { judge } from "../engine.js";
import { percentText } from "../numbers.js";
import { Problem } from "./parts.js";
/** @import { Accuracy as Measured } from "../engine.js" */

const most = 50; // messages per minute that the limit allows
const rates = [10, 20, 27, 35, 40, 45, 50, 55, 60, 80]; // messages per minute
const named = 27; // the rate of the published figures
const judged = 19_000; // messages per rate and round, about
const rounds = 10; // each has random traffic of its own
const askEvery = 120; // ms: the Lab answers 20 questions at once, then ten per second
const fineSlices = [1, 6];

/** @typedef {{rate: number, slices: number, measured: Measured}} Point */

// slicesKnown are the numbers of slices to compare. An engine that can't count in slices has 1.
const slicesKnown = () => (algorithmOf({ algorithm: "sliding-window" }).fields.slices ? fineSlices : [1]);

/** @param {number} rate @param {number} slices @param {number} seed @returns {Promise<Point>} */
async function ask(rate, slices, seed) {
  const limit = { name: "window", algorithm: "sliding-window", messages: most, every: "1m", ...(slices > 1 && { slices }) };
  const traffic = { kind: "poisson", per_minute: rate, seed, for: `${Math.floor(judged / rate)}m` };
  return { rate, slices, measured: (await judge({ lanes: [{ limits: [limit] }], traffic, accuracy: true, no_steps: true })).accuracy };
}

// together adds a measurement to the sum of the earlier ones of the same rate and slices.
/** @param {Measured | undefined} sum @param {Measured} next @returns {Measured} */
export function together(sum, next) {
  if (!sum) return next;
  const messages = sum.messages + next.messages, wrong = sum.counted.wrong + next.counted.wrong;
  const off = (sum.counted.mean_off_percent * sum.messages + next.counted.mean_off_percent * next.messages) / messages;
  const [one, other] = [sum.side_by_side, next.side_by_side];
  return {
    messages,
    counted: { wrong, wrong_percent: (100 * wrong) / messages, mean_off_percent: off },
    side_by_side: {
      window_throttled: one.window_throttled + other.window_throttled,
      log_throttled: one.log_throttled + other.log_throttled,
      most_let_pass_in_any_window: Math.max(one.most_let_pass_in_any_window, other.most_let_pass_in_any_window),
    },
  };
}

// askAll asks one question after the other, so that the Lab stays free for other users. It calls
// tell with the sums after each round, and ends early if isOver returns true.
/** @param {(points: Point[]) => void} tell @param {() => boolean} isOver */
async function askAll(tell, isOver) {
  /** @type {Map<string, Point>} */
  const points = new Map();
  for (let seed = 1; seed <= rounds; seed++) {
    for (const slices of slicesKnown()) for (const rate of rates) {
      if (seed > 1) await new Promise((next) => setTimeout(next, askEvery));
      const key = `${rate} ${slices}`, { measured } = await ask(rate, slices, seed);
      if (isOver()) return;
      points.set(key, { rate, slices, measured: together(points.get(key)?.measured, measured) });
    }
    tell([...points.values()]);
  }
}

export function Accuracy() {
  const [points, show] = useState(/** @type {Point[]} */ ([]));
  const [problem, tell] = useState("");
  useEffect(() => {
    let isOver = false;
    askAll(show, () => isOver).catch(({ message }) => !isOver && tell(message));
    return () => {
      isOver = true;
    };
  }, []);
  return html`
    <div class="experiment" id="accuracy">
      <p class="muted" id="measured" role="status">${points.length > 0 ? t("lab.measured", { n: points.at(-1).measured.messages, most: rounds * judged }) : t("lab.measuring")}</p>
      <${Problem} text=${problem} />
      ${points.length > 0 ? html`<${Charts} points=${points} /><${Finding} points=${points} /><${Table} points=${points} />` : !problem && html`<div class="chart to-come"></div>`}
    </div>
  `;
}

/** @param {number} slices */
const windowName = (slices) => (slices === 1 ? t("lab.whole-windows") : t("lab.slices", { n: slices }));

const colours = ["--accent", "--series-throttled"];

/** @param {{points: Point[]}} props */
function Charts({ points }) {
  /** @param {(of: Measured["counted"]) => number} of */
  const seriesOf = (of) => slicesKnown().map((slices, i) => ({ name: windowName(slices), colour: colours[i], values: points.filter((point) => point.slices === slices).map(({ measured }) => of(measured.counted)) }));
  const off = seriesOf(({ mean_off_percent: percent }) => percent), wrong = seriesOf(({ wrong_percent: percent }) => percent);
  const shared = { at: rates, unit: "%", across: rateText, moment: (/** @type {number} */ i) => t("lab.at-rate", { rate: rates[i] }) };
  const atLimit = percentText(wrong[0].values[rates.indexOf(most)]);
  return html`
    <div class="side-by-side">
      <div><h2 class="headline">${t("lab.off-title")}</h2><${Chart} ...${shared} label=${t("lab.off")} series=${off} summary=${t("lab.off-summary")} /></div>
      <div><h2 class="headline">${t("lab.wrong-title")}</h2><${Chart} ...${shared} label=${t("lab.wrong")} series=${wrong} summary=${t("lab.wrong-summary", { most, percent: atLimit })} /></div>
    </div>
  `;
}

/** @param {number} rate */
const rateText = (rate) => String(rate);

/** @param {{points: Point[]}} props */
function Finding({ points }) {
  /** @param {number} rate @param {number} [slices] */
  const at = (rate, slices = 1) => points.find((point) => point.rate === rate && point.slices === slices).measured.counted;
  /** @param {number} percent */
  const strong = (percent) => html`<strong>${percentText(percent)}</strong>`;
  const fine = slicesKnown().at(-1);
  const values = { rate: named, off: strong(at(named).mean_off_percent), wrong: strong(at(named).wrong_percent), atLimit: strong(at(most).wrong_percent) };
  const found = fine === 1 ? rich("lab.accuracy-finding", values)
    : rich("lab.accuracy-finding-slices", { ...values, slices: windowName(fine), fineOff: percentText(at(named, fine).mean_off_percent), fineAtLimit: percentText(at(most, fine).wrong_percent) });
  return html`<p class="finding" id="finding">${found}</p>`;
}

const columns = () => [
  t("lab.accuracy-rate"), t("lab.accuracy-in"), t("lab.accuracy-messages"), t("lab.accuracy-off"), t("lab.accuracy-wrong"), t("lab.accuracy-window"), t("lab.accuracy-log"), t("lab.accuracy-most"),
];

/** @param {{points: Point[]}} props */
function Table({ points }) {
  return html`
    <div class="chart"><div class="scrolls" tabindex="0" role="region" aria-label=${t("lab.accuracy-table")}>
      <table id="accuracy-table">
        <caption>${t("lab.accuracy-caption", { most })}</caption>
        <thead><tr>${columns().map((title) => html`<th scope="col" key=${title}>${title}</th>`)}</tr></thead>
        <tbody>
          ${points.map(({ rate, slices, measured: { messages, counted, side_by_side: side } }) => html`
            <tr key=${`${rate} ${slices}`}>
              <th scope="row">${rate}</th><td>${windowName(slices)}</td><td>${number.format(messages)}</td>
              <td>${percentText(counted.mean_off_percent)}</td><td>${percentText(counted.wrong_percent)}</td>
              <td>${number.format(side.window_throttled)}</td><td>${number.format(side.log_throttled)}</td><td>${side.most_let_pass_in_any_window}</td>
            </tr>`)}
        </tbody>
      </table>
    </div></div>
  `;
}
