// @ts-check
// The experiment "10,000 at 1,000 per second": an eager sender and nine limits of the same rate.

import { Plot } from "../../app/widgets/plot.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { judge } from "../engine.js";
import { Problem, Tabs } from "./parts.js";
import { useAnswer } from "./question.js";
/** @import { Pushed } from "../engine.js" */
/** @import { Limit } from "../state.js" */

const messages = 1000;

/** @type {[name: string, limit: Limit][]} */
const contenders = [
  ["token bucket, 1,000 at once", { name: "bucket", algorithm: "token-bucket", burst: messages, refill: "1ms" }],
  ["token bucket, 100 at once", { name: "bucket", algorithm: "token-bucket", burst: 100, refill: "1ms" }],
  ["token bucket, 1 at once", { name: "bucket", algorithm: "token-bucket", burst: 1, refill: "1ms" }],
  ["leaky bucket, queue of 999", { name: "queue", algorithm: "leaky-bucket", every: "1ms", queue: 999 }],
  ["leaky bucket, no queue", { name: "queue", algorithm: "leaky-bucket", every: "1ms", queue: 0 }],
  ["fixed window", { name: "window", algorithm: "fixed-window", messages, every: "1s" }],
  ["user window", { name: "window", algorithm: "user-window", messages, every: "1s" }],
  ["sliding window", { name: "window", algorithm: "sliding-window", messages, every: "1s" }],
  ["sliding log", { name: "window", algorithm: "sliding-log", messages, every: "1s" }],
];

/** @typedef {{id: string, name: string, traffic: Record<string, unknown>, about: string}} Plan */

/** @type {Plan[]} */
const plans = [
  {
    id: "article", name: "Two pauses", traffic: { start: "500ms", pauses: ["4s+500ms", "6s+1s"] },
    about: "It starts half a second behind a second of the clock, and pauses from 4 to 4.5 s and from 6 to 7 s.",
  },
  { id: "steady", name: "No pause", traffic: { start: "500ms" }, about: "It starts half a second behind a second of the clock, and never pauses." },
];

// halves are the contenders in two questions, because one takes at most eight lanes.
const halves = [contenders.slice(0, 5), contenders.slice(5)];

/** @param {Plan} plan @returns {Promise<Pushed[]>} */
async function ask({ traffic }) {
  const questions = halves.map((half) => judge({ lanes: half.map(([, limit]) => ({ limits: [limit] })), traffic: { kind: "eager", ...traffic } }));
  return (await Promise.all(questions)).flatMap(({ lanes }) => lanes.map(({ push }) => push));
}

/** @type {Record<string, {name: string, seconds: number, of: (pushed: Pushed) => number[]}>} */
const steps = {
  second: { name: "Per second", seconds: 1, of: ({ per_second: counts }) => counts },
  tenth: { name: "Per tenth", seconds: 0.1, of: ({ per_tenth: counts }) => counts },
};

const figures = new Intl.NumberFormat("en-GB");

export function Push() {
  const [planID, choosePlan] = useState(plans[0].id);
  const [step, chooseStep] = useState("second");
  const plan = plans.find(({ id }) => id === planID);
  const { answer, problem } = useAnswer(() => ask(plan), [planID]);
  return html`
    <div class="experiment" id="push">
      <div class="control-row">
        <${Tabs} label="Sender" choices=${plans.map(({ id, name }) => [id, name])} chosen=${planID} onChoose=${choosePlan} />
        <${Tabs} label="Count" choices=${Object.entries(steps).map(([id, { name }]) => [id, name])} chosen=${step} onChoose=${chooseStep} />
      </div>
      <p>${plan.about}</p>
      <${Problem} text=${problem} />
      ${answer ? html`<${Charts} answer=${answer} step=${step} /><${Finding} answer=${answer} /><${Table} answer=${answer} />` : !problem && html`<div class="chart to-come"></div>`}
    </div>
  `;
}

// Charts has a small chart of each limit, all on the same scale.
/** @param {{answer: Pushed[], step: string}} props */
function Charts({ answer, step }) {
  const { name, seconds, of } = steps[step];
  const length = Math.max(...answer.map((pushed) => of(pushed).length)), top = Math.max(...answer.flatMap(of));
  const at = Array.from({ length }, (_, i) => (i + 0.5) * seconds);
  return html`
    <div class="multiples">
      ${contenders.map(([title], i) => {
        const counts = of(answer[i]), values = at.map((_, i) => counts[i] ?? 0);
        const series = [{ name: title, values, colour: "--accent" }];
        return html`
          <figure class="chart multiple" key=${title}>
            <figcaption>${title}</figcaption>
            <div role="img" aria-label=${`${title}, messages ${name.toLowerCase()}: ${counts.slice(0, 12).map(Math.round).join(", ")}${counts.length > 12 ? " …" : ""}`}>
              <${Plot} key=${step} at=${at} series=${series} height=${112} top=${top} range=${[0, length * seconds]} hasBars=${true} across=${secondsText} onPoint=${ignore} />
            </div>
          </figure>`;
      })}
    </div>
  `;
}

/** @param {number} seconds */
const secondsText = (seconds) => `${seconds} s`;

const ignore = () => {};

// Finding says what the numbers mean for a claim that is often repeated.
/** @param {{answer: Pushed[]}} props */
function Finding({ answer: [bucket, , one, , , clock, , , log] }) {
  /** @param {Pushed} of */
  const most = ({ most_in_a_second: count }) => html`<strong>${figures.format(count)}</strong>`;
  return html`
    <p class="finding" id="finding">
      An article that made this experiment known says that a token bucket never exceeds its rate, and that a log may. Counted exactly, over any stretch of a second wherever it begins, it is the other way round:
      the token bucket of 1,000 lets ${most(bucket)} pass within a second and the log ${most(log)}. A bucket that holds a second’s worth spends it on top of what flows in; one that holds a single message
      stays at ${most(one)}. The fixed window lets ${most(clock)} pass, because two of its windows meet in one stretch.
    </p>
  `;
}

/** @param {{answer: Pushed[]}} props */
function Table({ answer }) {
  const length = Math.max(...answer.map(({ per_second: counts }) => counts.length));
  const seconds = Array.from({ length }, (_, i) => i);
  return html`
    <div class="chart"><div class="scrolls" tabindex="0" role="region" aria-label="Table: messages per second">
      <table id="push-table">
        <caption>Messages that left in each second from the start, and the most within any stretch of a length</caption>
        <thead><tr><th scope="col">Limit</th>${seconds.map((second) => html`<th scope="col" key=${second}>${second} s</th>`)}<th scope="col">Last at</th><th scope="col">Most in 1 s</th><th scope="col">Most in 0.1 s</th></tr></thead>
        <tbody>
          ${answer.map((pushed, i) => html`
            <tr key=${i}>
              <th scope="row">${contenders[i][0]}</th>
              ${seconds.map((second) => html`<td key=${second}>${second in pushed.per_second ? figures.format(pushed.per_second[second]) : ""}</td>`)}
              <td>${(pushed.last_at_ns / 1e9).toFixed(3)} s</td>
              <td class=${pushed.most_in_a_second > messages ? "over" : ""}>${figures.format(pushed.most_in_a_second)}</td>
              <td>${figures.format(pushed.most_in_a_tenth)}</td>
            </tr>`)}
        </tbody>
      </table>
    </div></div>
  `;
}
