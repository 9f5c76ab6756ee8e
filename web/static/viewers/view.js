// @ts-check
// What a viewer sees: when they may write again, why, and what is left for them.

import { number, sentences, t } from "../text/text.js";
import { html } from "../vendor/htm-preact.js";
import { countdownText, lengthText, timeText, zone } from "./words.js";

/** @typedef {Api.getViewer} Standing */
/** @typedef {Standing["limits"][number]} Limit */

// Standing shows what is known about the viewer at a time of chatguard's, in ms.
/** @param {{of: Standing, now: number}} props */
export function Standing({ of, now }) {
  return html`
    <section class="card" aria-label=${t("viewer.title", { channel: of.channel })}>
      <${State} of=${of} now=${now} />
      ${of.exempt && html`<p>${t("viewer.exempt")}</p>`}
      ${of.observing && html`<p class="note">${t("viewer.observing")}</p>`}
      ${of.raid_until && Date.parse(of.raid_until) > now && html`<p class="note">${t("viewer.raid", { time: timeText(Date.parse(of.raid_until), now) })}</p>`}
    </section>
    ${of.limits.length > 0 && html`
      <section>
        <h2>${t("viewer.left")}</h2>
        <ul class="limits">${of.limits.map((limit) => html`<${Left} key=${limit.name} of=${limit} now=${now} />`)}</ul>
      </section>`}
    ${of.same_text.length > 0 && html`<section class="same">${of.same_text.map((rule) => html`<p key=${rule.name} class="small">${sameText(rule)}</p>`)}</section>`}
  `;
}

// isFree reports whether the viewer may write, as far as is known: chatguard is asked again when a
// wait is over.
/** @param {Standing} of @param {number} now */
export const isFree = (of, now) => of.may_write || (of.next_at !== undefined && Date.parse(of.next_at) <= now);

/** @param {{of: Standing, now: number}} props */
function State({ of, now }) {
  if (isFree(of, now)) return html`<p class="state is-free">${t("viewer.free")}</p>`;
  const at = of.next_at && Date.parse(of.next_at);
  return html`
    ${at && html`<p class="state">${t("viewer.again-in")} <span class="countdown" role="timer">${countdownText(at - now)}</span></p>`}
    ${headline(of, now) && html`<p class=${at ? "" : "state is-waiting"}>${headline(of, now)}</p>`}
    <p class="muted">${whyText(of)}</p>
  `;
}

// headline is what the countdown doesn't say.
/** @param {Standing} of @param {number} now */
function headline(of, now) {
  const time = of.next_at && timeText(Date.parse(of.next_at), now);
  switch (of.reason) {
    case "timeout": return t("viewer.timed-out", { time });
    case "ban": return t("viewer.banned");
    case "busy": return t("viewer.busy");
  }
  return of.never ? t("viewer.never", { limit: limitOf(of)?.title ?? of.limit }) : t("viewer.again-at", { time });
}

// stateText says in one sentence whether the viewer may write, for screen readers.
/** @param {Standing} of @param {number} now */
export function stateText(of, now) {
  if (isFree(of, now)) return t("viewer.free");
  const isWait = of.reason === "limit" && of.next_at;
  return sentences(isWait ? t("viewer.again-at-said", { time: timeText(Date.parse(of.next_at), now) }) : headline(of, now), whyText(of));
}

/** @param {Standing} of */
function whyText(of) {
  switch (of.reason) {
    case "timeout": return t("viewer.why-timeout");
    case "ban": return t("viewer.why-ban");
    case "busy": return t("viewer.why-busy");
  }
  const limit = limitOf(of);
  return limit ? t("viewer.why-limit", { limit: limit.title, rule: ruleText(limit) }) : "";
}

// limitOf returns the limit that throttles the viewer longest.
/** @param {Standing} of */
const limitOf = (of) => of.limits.find(({ name }) => name === of.limit);

const day = 86_400; // s

// ruleText is what a limit allows.
/** @param {Pick<Limit, "algorithm" | "capacity" | "step_seconds" | "window_seconds">} of */
function ruleText({ algorithm, capacity: n, step_seconds: step, window_seconds: window }) {
  if (algorithm === "cascade") return t("viewer.rule-cascade");
  if (algorithm === "daily-window") return t(window > 8 * day ? "viewer.rule-month" : window > 2 * day ? "viewer.rule-week" : "viewer.rule-day", { n });
  return step > 0 ? t("viewer.rule-bucket", { n, step: lengthText(step) }) : t("viewer.rule-window", { n, window: lengthText(window) });
}

// sameText says how often the same message may be written, and by whom.
/** @param {Standing["same_text"][number]} rule */
const sameText = (rule) => sentences(t(rule.everyone ? "viewer.same-everyone" : "viewer.same", { limit: rule.title, rule: ruleText(rule) }), rule.similar && t("viewer.same-similar"));

const low = 0.2; // of the capacity

// Left shows how much of a limit is left.
/** @param {{of: Limit, now: number}} props */
function Left({ of, now }) {
  const { title, remaining, capacity, granted, reset_at, everywhere } = of;
  const share = Math.min(1, remaining / Math.max(1, capacity + granted));
  const left = t("viewer.left-of", { n: remaining, capacity: number.format(capacity + granted) });
  const isUsed = remaining < capacity + granted && reset_at && Date.parse(reset_at) > now;
  const notes = [granted > 0 && t("viewer.granted", { n: granted }), everywhere && t("viewer.everywhere"), isUsed && t("viewer.full-again", { time: timeText(Date.parse(reset_at), now) })];
  return html`
    <li>
      <div class="limit-head"><strong>${title}</strong><span>${left}</span></div>
      <div class="bar" role="meter" aria-label=${title} aria-valuemin="0" aria-valuemax=${capacity + granted} aria-valuenow=${Math.min(remaining, capacity + granted)} aria-valuetext=${left}>
        <span class=${share <= low ? "is-low" : ""} style=${{ width: `${100 * share}%` }}></span>
      </div>
      <p class="small">${ruleText(of)}</p>
      ${notes.filter(Boolean).map((note) => html`<p class="small">${note}</p>`)}
    </li>
  `;
}

// Foot says who is signed in and in which time zone times are, and lets the viewer sign out.
/** @param {{name: string, signOut: () => void}} props */
export const Foot = ({ name, signOut }) => html`
  <footer>
    <p class="small">${t("viewer.signed-in-as", { name })}</p>
    <button type="button" id="sign-out" onClick=${signOut}>${t("viewer.sign-out")}</button>
    <p class="small">${t("viewer.nobody-else", { zone: zone() })}</p>
  </footer>
`;

// SignIn offers the sign-in. ways is null while it isn't known whether there is one.
/** @param {{canSignIn: boolean | null}} props */
export const SignIn = ({ canSignIn }) => html`
  <h1>${t("viewer.title-signed-out")}</h1>
  <section class="card">
    ${canSignIn === false
      ? html`<p>${t("viewer.no-sign-in")}</p>`
      : html`
        <p>${t("viewer.sign-in-about")}</p>
        <p>${canSignIn && html`<a class="button" id="sign-in" href="signin/twitch?for=viewer">${t("viewer.sign-in")}</a>`}</p>`}
  </section>
`;
