// @ts-check
// The card that sums up the last stream, or the last day if no stream is known.

import { html, useEffect } from "../../vendor/htm-preact.js";
import { follower } from "../core/follow.js";
import { prefer } from "../core/preferences.js";
import { linkTo } from "../core/route.js";
import { nameOf, update } from "../core/state.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";
/** @import { State } from "../core/state.js" */

/** @typedef {{channel: string, body: Api.getChannelsSummary | null, problem: string}} Summaries */
/** @typedef {NonNullable<Api.getChannelsSummary["last"]>} Summary */

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

const follow = follower(({ channel, body, problem }) => update((s) => (s.summaries = { channel, body: body ?? (s.summaries?.channel === channel ? s.summaries.body : null), problem })));

// SummaryCard can be dismissed until the next stream ends. A button then shows it again.
/** @param {{state: State}} props */
export function SummaryCard({ state }) {
  const { channel, summaries, preferences } = state;
  useEffect(() => follow("summary"), [channel]);
  const { last, timezone } = (summaries?.channel === channel && summaries.body) || {};
  if (!last || isEmpty(last)) return null;
  const title = last.kind === "stream" ? "Last stream" : "Yesterday";
  const set = (/** @type {boolean} */ isDismissed) => prefer({ dismissed: { ...preferences.dismissed, [channel]: isDismissed ? last.from : "" } });
  if (preferences.dismissed?.[channel] === last.from) {
    return html`<p class="summary"><button type="button" class="quiet" onClick=${() => set(false)}><${Icon} name="history" />${title}</button></p>`;
  }
  return html`
    <section class="card summary" aria-labelledby="summary-title">
      <div class="card-head">
        <h2 id="summary-title">${title}</h2>
        <button type="button" class="icon-only" aria-label="Dismiss the summary" title="Dismiss" onClick=${() => set(true)}><${Icon} name="close" /></button>
      </div>
      <p>${sentence(last, timezone)}</p>
      <${Details} state=${state} summary=${last} zone=${timezone} />
      <div class="together"><${Copy} text=${sentence(last, timezone)} what="summary" /></div>
    </section>
  `;
}

/** @param {Summary} of */
const isEmpty = ({ throttled, recorded, changes, pardoned_users: pardoned, grants }) =>
  throttled.messages + throttled.observed_messages + (recorded?.messages ?? 0) + changes.length + pardoned + grants === 0;

/** @param {{state: State, summary: Summary, zone: string}} props */
function Details({ state, summary: { throttled, recorded, changes, more_changes: more, grants }, zone }) {
  const top = throttled.top.map((user, i) => html`${i > 0 && ", "}<a href=${linkTo(state, "people", { user: user.user_id })}><bdi>${nameOf(user)}</bdi></a> ${whole.format(user.throttled + user.observed)}`);
  const changed = changes.length + more;
  return html`
    <dl class="facts">
      ${recorded && html`<dt>Messages</dt><dd>${whole.format(recorded.messages)} by ${count(recorded.users, "user")}</dd>`}
      <dt>Throttled</dt><dd>${count(throttled.messages, "message")}${throttled.observed_messages > 0 && `, ${whole.format(throttled.observed_messages)} only observed`}</dd>
      ${recorded?.peak && html`<dt>Busiest minute</dt><dd>${time(recorded.peak.at, zone)}: ${count(recorded.peak.messages, "message")}</dd>`}
      ${top.length > 0 && html`<dt>Most</dt><dd>${top}</dd>`}
      ${grants > 0 && html`<dt>Grants</dt><dd>${whole.format(grants)}</dd>`}
      ${changed > 0 && html`<dt>Changes</dt><dd><a href=${linkTo(state, "audit")}>${count(changed, "change")} by ${names(changes)}</a></dd>`}
    </dl>
  `;
}

/** @param {{author: string}[]} changes */
const names = (changes) => [...new Set(changes.map(({ author }) => author))].slice(0, 3).join(", ");

/** @param {number} n @param {string} noun */
const count = (n, noun) => `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;

/** @param {number} n */
const people = (n) => `${whole.format(n)} ${n === 1 ? "person" : "people"}`;

/** @param {string} at @param {string} timeZone */
const time = (at, timeZone) => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone }).format(Date.parse(at));

/** @param {string} at @param {string} timeZone */
const dayName = (at, timeZone) => new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", timeZone }).format(Date.parse(at));

// sentence sums a period up: "Last stream, Sat 14 Nov 20:00–23:10 (UTC): 37 people held back, 3
// timed out, 2 pardoned. At the limits in force, it would be 31."
/** @param {Summary} of @param {string} zone */
export function sentence({ kind, from, until, throttled, pardoned_users: pardoned, recorded }, zone) {
  const period = kind === "stream" ? `Last stream, ${dayName(from, zone)} ${time(from, zone)}–${time(until, zone)}` : dayName(from, zone);
  const parts = [`${people(throttled.users)} held back`];
  if (throttled.observed_users > 0) parts.push(`${people(throttled.observed_users)} only observed`);
  if (throttled.timed_out_users > 0) parts.push(`${whole.format(throttled.timed_out_users)} timed out`);
  if (throttled.banned_users > 0) parts.push(`${whole.format(throttled.banned_users)} banned`);
  if (pardoned > 0) parts.push(`${whole.format(pardoned)} pardoned`);
  const now = recorded?.in_force ? ` At the limits in force, it would be ${whole.format(recorded.in_force.users)}.` : "";
  return `${period} (${zone}): ${parts.join(", ")}.${now}`;
}
