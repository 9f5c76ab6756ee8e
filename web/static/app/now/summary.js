// @ts-check
// The card that sums up the last stream, or the last day if no stream is known.

import { comma, commas, locale, number, sentences, t } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { follower } from "../core/follow.js";
import { prefer } from "../core/preferences.js";
import { linkTo } from "../core/route.js";
import { nameOf, update } from "../core/state.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";
import { authorName } from "../words/author.js";
import { dayFormat } from "../words/time.js";
/** @import { State } from "../core/state.js" */

/** @typedef {{channel: string, body: Api.getChannelsSummary | null, problem: string}} Summaries */
/** @typedef {NonNullable<Api.getChannelsSummary["last"]>} Summary */

const follow = follower(({ channel, body, problem }) => update((s) => (s.summaries = { channel, body: body ?? (s.summaries?.channel === channel ? s.summaries.body : null), problem })));

// SummaryCard can be dismissed until the next stream ends. A button then shows it again.
/** @param {{state: State}} props */
export function SummaryCard({ state }) {
  const { channel, summaries, preferences } = state;
  useEffect(() => follow("summary"), [channel]);
  const { last, timezone } = (summaries?.channel === channel && summaries.body) || {};
  if (!last || isEmpty(last)) return null;
  const title = last.kind === "stream" ? t("now.last-stream") : t("now.yesterday");
  const set = (/** @type {boolean} */ isDismissed) => prefer({ dismissed: { ...preferences.dismissed, [channel]: isDismissed ? last.from : "" } });
  if (preferences.dismissed?.[channel] === last.from) {
    return html`<p class="summary"><button type="button" class="quiet" onClick=${() => set(false)}><${Icon} name="history" />${title}</button></p>`;
  }
  return html`
    <section class="card summary" aria-labelledby="summary-title">
      <div class="card-head">
        <h2 id="summary-title">${title}</h2>
        <button type="button" class="icon-only" aria-label=${t("now.dismiss-summary")} title=${t("now.dismiss")} onClick=${() => set(true)}><${Icon} name="close" /></button>
      </div>
      <p>${sentence(last, timezone)}</p>
      <${Details} state=${state} summary=${last} zone=${timezone} />
      <div class="together"><${Copy} text=${sentence(last, timezone)} label=${t("now.copy-summary")} /></div>
    </section>
  `;
}

/** @param {Summary} of */
const isEmpty = ({ throttled, recorded, changes, pardoned_users: pardoned, grants }) =>
  throttled.messages + throttled.observed_messages + (recorded?.messages ?? 0) + changes.length + pardoned + grants === 0;

/** @param {{state: State, summary: Summary, zone: string}} props */
function Details({ state, summary: { throttled, recorded, changes, more_changes: more, grants }, zone }) {
  const top = throttled.top.map((user, i) => html`${i > 0 && comma}<a href=${linkTo(state, "people", { user: user.user_id })}><bdi>${nameOf(user)}</bdi></a> ${number.format(user.throttled + user.observed)}`);
  const changed = changes.length + more;
  return html`
    <dl class="facts">
      ${recorded && html`<dt>${t("now.fact-messages")}</dt><dd>${t("now.messages-by", { messages: recorded.messages, n: recorded.users })}</dd>`}
      <dt>${t("now.fact-throttled")}</dt><dd>${commas([t("now.messages", { n: throttled.messages }), throttled.observed_messages > 0 && t("now.count-observed", { n: throttled.observed_messages })])}</dd>
      ${recorded?.peak && html`<dt>${t("now.fact-busiest")}</dt><dd>${t("now.busiest", { time: time(recorded.peak.at, zone), n: recorded.peak.messages })}</dd>`}
      ${top.length > 0 && html`<dt>${t("now.fact-most")}</dt><dd>${top}</dd>`}
      ${grants > 0 && html`<dt>${t("now.fact-grants")}</dt><dd>${number.format(grants)}</dd>`}
      ${changed > 0 && html`<dt>${t("now.fact-changes")}</dt><dd><a href=${linkTo(state, "audit")}>${t("now.changes-by", { n: changed, names: names(changes) })}</a></dd>`}
    </dl>
  `;
}

/** @param {{author: string}[]} changes */
const names = (changes) => commas([...new Set(changes.map(({ author }) => authorName(author)))].slice(0, 3));

/** @param {string} at @param {string} timeZone */
const time = (at, timeZone) => new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", timeZone }).format(Date.parse(at));

/** @param {string} at @param {string} timeZone */
const dayName = (at, timeZone) => dayFormat(timeZone).format(Date.parse(at));

// sentence sums a period up: "Last stream, Sat 14 Nov 20:00–23:10 (UTC): 37 people throttled, 3
// timed out, 2 pardoned. With the current limits, 31 would be throttled."
/** @param {Summary} of @param {string} zone */
export function sentence({ kind, from, until, throttled, pardoned_users: pardoned, recorded }, zone) {
  const { users, observed_users: observed, timed_out_users: timedOut, banned_users: banned } = throttled;
  const what = commas([
    t("now.people-throttled", { n: users }),
    observed > 0 && t("now.people-observed", { n: observed }),
    timedOut > 0 && t("now.people-timed-out", { n: timedOut }),
    banned > 0 && t("now.people-banned", { n: banned }),
    pardoned > 0 && t("now.people-pardoned", { n: pardoned }),
  ]);
  const values = { day: dayName(from, zone), zone, what };
  const said = kind === "stream" ? t("now.sum-of-stream", { ...values, from: time(from, zone), until: time(until, zone) }) : t("now.sum-of-day", values);
  return sentences(said, recorded?.in_force && t("now.in-force", { n: recorded.in_force.users }));
}
