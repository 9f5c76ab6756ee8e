// @ts-check
// The experiment "10,000 at 1,000 per second": an eager sender and nine limits of the same rate.

import { commas, number, rich, t } from "../../text/text.js";
import { Plot } from "../../app/widgets/plot.js";
import { algorithmOf } from "../../app/words/algorithms.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { secondsText } from "../clock.js";
import { judge } from "../engine.js";
import { fixed } from "../numbers.js";
import { Problem, Tabs } from "./parts.js";
import { useAnswer } from "./question.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Pushed } from "../engine.js" */
/** @import { Limit } from "../state.js" */

const messages = 1000;

/** @param {number} n @returns {(algorithm: string) => string} */
const atOnce = (n) => (algorithm) => t("lab.at-once", { algorithm, n });
/** @param {string} algorithm */
const plain = (algorithm) => algorithm;

/** @type {[name: (algorithm: string) => string, limit: Limit][]} */
const contenders = [
  [atOnce(messages), { name: "bucket", algorithm: "token-bucket", burst: messages, refill: "1ms" }],
  [atOnce(100), { name: "bucket", algorithm: "token-bucket", burst: 100, refill: "1ms" }],
  [atOnce(1), { name: "bucket", algorithm: "token-bucket", burst: 1, refill: "1ms" }],
  [(algorithm) => t("lab.with-queue", { algorithm, n: 999 }), { name: "queue", algorithm: "leaky-bucket", every: "1ms", queue: 999 }],
  [(algorithm) => t("lab.without-queue", { algorithm }), { name: "queue", algorithm: "leaky-bucket", every: "1ms", queue: 0 }],
  [plain, { name: "window", algorithm: "fixed-window", messages, every: "1s" }],
  [plain, { name: "window", algorithm: "user-window", messages, every: "1s" }],
  [plain, { name: "window", algorithm: "sliding-window", messages, every: "1s" }],
  [plain, { name: "window", algorithm: "sliding-log", messages, every: "1s" }],
];

// names are the names of the contenders.
const names = () => contenders.map(([nameOf, limit]) => nameOf(algorithmOf(limit).name));

/** @typedef {{id: string, name: TextKey, traffic: Record<string, unknown>, about: TextKey}} Plan */

/** @type {Plan[]} */
const plans = [
  {
    id: "article", name: "lab.push-article", traffic: { start: "500ms", pauses: ["4s+500ms", "6s+1s"] },
    about: "lab.push-article-about",
  },
  { id: "steady", name: "lab.push-steady", traffic: { start: "500ms" }, about: "lab.push-steady-about" },
];

// halves are the contenders in two questions, because one takes at most eight lanes.
const halves = [contenders.slice(0, 5), contenders.slice(5)];

/** @param {Plan} plan @returns {Promise<Pushed[]>} */
async function ask({ traffic }) {
  const questions = halves.map((half) => judge({ lanes: half.map(([, limit]) => ({ limits: [limit] })), traffic: { kind: "eager", ...traffic } }));
  return (await Promise.all(questions)).flatMap(({ lanes }) => lanes.map(({ push }) => push));
}

/** @type {Record<string, {name: TextKey, chart: TextKey, seconds: number, of: (pushed: Pushed) => number[]}>} */
const steps = {
  second: { name: "lab.per-second", chart: "lab.chart-per-second", seconds: 1, of: ({ per_second: counts }) => counts },
  tenth: { name: "lab.per-tenth", chart: "lab.chart-per-tenth", seconds: 0.1, of: ({ per_tenth: counts }) => counts },
};

export function Push() {
  const [planID, choosePlan] = useState(plans[0].id);
  const [step, chooseStep] = useState("second");
  const plan = plans.find(({ id }) => id === planID);
  const { answer, problem } = useAnswer(() => ask(plan), [planID]);
  return html`
    <div class="experiment" id="push">
      <div class="control-row">
        <${Tabs} label=${t("lab.push-sender")} choices=${plans.map(({ id, name }) => [id, t(name)])} chosen=${planID} onChoose=${choosePlan} />
        <${Tabs} label=${t("lab.push-count")} choices=${Object.entries(steps).map(([id, { name }]) => [id, t(name)])} chosen=${step} onChoose=${chooseStep} />
      </div>
      <p>${t(plan.about)}</p>
      <${Problem} text=${problem} />
      ${answer ? html`<${Charts} answer=${answer} step=${step} /><${Finding} answer=${answer} /><${Table} answer=${answer} />` : !problem && html`<div class="chart to-come"></div>`}
    </div>
  `;
}

// Charts has a small chart of each limit, all on the same scale.
/** @param {{answer: Pushed[], step: string}} props */
function Charts({ answer, step }) {
  const { chart, seconds, of } = steps[step];
  const length = Math.max(...answer.map((pushed) => of(pushed).length)), top = Math.max(...answer.flatMap(of));
  const at = Array.from({ length }, (_, i) => (i + 0.5) * seconds);
  return html`
    <div class="multiples">
      ${names().map((title, i) => {
        const counts = of(answer[i]), values = at.map((_, i) => counts[i] ?? 0);
        const series = [{ name: title, values, colour: "--accent" }];
        return html`
          <figure class="chart multiple" key=${title}>
            <figcaption>${title}</figcaption>
            <div role="img" aria-label=${t(chart, { limit: title, counts: commas(counts.slice(0, 12).map(String)) + (counts.length > 12 ? " …" : "") })}>
              <${Plot} key=${step} at=${at} series=${series} height=${112} top=${top} range=${[0, length * seconds]} hasBars=${true} across=${secondsText} onPoint=${ignore} />
            </div>
          </figure>`;
      })}
    </div>
  `;
}

const ignore = () => {};

// Finding says what the numbers mean for a claim that is often repeated.
/** @param {{answer: Pushed[]}} props */
function Finding({ answer: [bucket, , one, , , clock, , , log] }) {
  /** @param {Pushed} of */
  const most = ({ most_in_a_second: count }) => html`<strong>${number.format(count)}</strong>`;
  return html`<p class="finding" id="finding">${rich("lab.push-finding", { bucket: most(bucket), log: most(log), one: most(one), clock: most(clock) })}</p>`;
}

/** @param {{answer: Pushed[]}} props */
function Table({ answer }) {
  const length = Math.max(...answer.map(({ per_second: counts }) => counts.length));
  const seconds = Array.from({ length }, (_, i) => i);
  return html`
    <div class="chart"><div class="scrolls" tabindex="0" role="region" aria-label=${t("lab.push-table")}>
      <table id="push-table">
        <caption>${t("lab.push-caption")}</caption>
        <thead><tr><th scope="col">${t("lab.push-limit")}</th>${seconds.map((second) => html`<th scope="col" key=${second}>${secondsText(second)}</th>`)}<th scope="col">${t("lab.push-last")}</th><th scope="col">${t("lab.column-second")}</th><th scope="col">${t("lab.push-most-in-tenth")}</th></tr></thead>
        <tbody>
          ${answer.map((pushed, i) => html`
            <tr key=${i}>
              <th scope="row">${names()[i]}</th>
              ${seconds.map((second) => html`<td key=${second}>${second in pushed.per_second ? number.format(pushed.per_second[second]) : ""}</td>`)}
              <td>${t("lab.span-s", { s: fixed(pushed.last_at_ns / 1e9, 3) })}</td>
              <td class=${pushed.most_in_a_second > messages ? "over" : ""}>${number.format(pushed.most_in_a_second)}</td>
              <td>${number.format(pushed.most_in_a_tenth)}</td>
            </tr>`)}
        </tbody>
      </table>
    </div></div>
  `;
}
