// @ts-check
// The advice at the end of a scene: what is for and against its algorithm, and when to take it. If
// the scene has several, only when to take which. docs/limits.md has the reasons.

import { t, table } from "../text/text.js";
import { html } from "../vendor/htm-preact.js";
import { algorithmOf } from "../app/words/algorithms.js";
/** @import { More, Setup } from "./state.js" */

/** @type {Record<string, string>} */
const pros = table({
  "token-bucket": "lab.token-bucket-pros", "leaky-bucket": "lab.leaky-bucket-pros", "fixed-window": "lab.fixed-window-pros", "daily-window": "lab.daily-window-pros",
  "user-window": "lab.user-window-pros", "sliding-window": "lab.sliding-window-pros", "sliding-log": "lab.sliding-log-pros", cascade: "lab.cascade-pros",
});

/** @type {Record<string, string>} */
const cons = table({
  "token-bucket": "lab.token-bucket-cons", "leaky-bucket": "lab.leaky-bucket-cons", "fixed-window": "lab.fixed-window-cons", "daily-window": "lab.daily-window-cons",
  "user-window": "lab.user-window-cons", "sliding-window": "lab.sliding-window-cons", "sliding-log": "lab.sliding-log-cons", cascade: "lab.cascade-cons",
});

/** @type {Record<string, string>} */
const takes = table({
  "token-bucket": "lab.token-bucket-take", "leaky-bucket": "lab.leaky-bucket-take", "fixed-window": "lab.fixed-window-take", "daily-window": "lab.daily-window-take",
  "user-window": "lab.user-window-take", "sliding-window": "lab.sliding-window-take", "sliding-log": "lab.sliding-log-take", cascade: "lab.cascade-take",
});

/** @param {{lab: Setup & More}} props */
export function Advice({ lab: { story } }) {
  const { algorithms } = story, [first] = algorithms;
  return html`
    <section class="advice" aria-labelledby="advice-title">
      ${algorithms.length === 1 && html`
        <h2 class="headline for">${algorithmOf({ algorithm: first }).name}</h2>
        <dl><dt>${t("lab.pros")}</dt><dd>${pros[first]}</dd><dt>${t("lab.cons")}</dt><dd>${cons[first]}</dd></dl>`}
      <h2 class="headline" id="advice-title">${t("lab.advice")}</h2>
      ${algorithms.map((algorithm) => html`<p key=${algorithm}>${takes[algorithm]}</p>`)}
    </section>
  `;
}
