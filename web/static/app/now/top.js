// @ts-check
// The card of the users who were throttled most, today or in the running stream.

import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { follower } from "../core/follow.js";
import { linkTo } from "../core/route.js";
import { nameOf, update } from "../core/state.js";
/** @import { State } from "../core/state.js" */

/** @typedef {{channel: string, query: string, body: Api.getChannelsTop | null, problem: string}} Top */
/** @typedef {"day" | "stream"} Since */

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });

const follow = follower((news) => update((s) => (s.top = { ...news, body: news.body ?? (s.top?.query === news.query && s.top.channel === news.channel ? s.top.body : null) })));

/** @param {{state: State}} props */
export function TopCard({ state }) {
  const { channel, channels, top } = state;
  const [wanted, choose] = useState(/** @type {Since} */ ("day"));
  const isLive = !!channels.find(({ id }) => id === channel)?.live_since;
  const since = isLive ? wanted : "day", query = `?since=${since}`;
  useEffect(() => follow("top", query), [channel, query]);
  const body = top?.channel === channel && top.query === query ? top.body : null;
  return html`
    <section class="card top" aria-labelledby="top-title">
      <div class="card-head">
        <h2 id="top-title">Most throttled</h2>
        ${isLive && html`
          <div class="tabs" role="group" aria-label="Period">
            ${Object.entries({ day: "Today", stream: "This stream" }).map(([key, name]) => html`
              <button type="button" aria-pressed=${key === since ? "true" : "false"} onClick=${() => choose(/** @type {Since} */ (key))}>${name}</button>`)}
          </div>`}
      </div>
      ${body && html`<${Ranking} state=${state} body=${body} since=${since} />`}
      ${top?.problem && html`<p class="error" role="alert">${top.problem}</p>`}
    </section>
  `;
}

/** @param {{state: State, body: Api.getChannelsTop, since: Since}} props */
function Ranking({ state, body: { throttled: sum, before, timezone }, since }) {
  const observed = sum.observed_messages, onlyObserves = sum.messages === 0 && observed > 0;
  const all = sum.messages + observed, then = before && before.messages + before.observed_messages;
  const most = Math.max(1, ...sum.top.map(count));
  return html`
    <p class="sum">
      <strong>${whole.format(all)}</strong>
      ${all === 1 ? "message" : "messages"} ${onlyObserves ? "would have been throttled" : "throttled"} ${since === "day" ? `today (${timezone})` : "in this stream"}${observed > 0 && !onlyObserves ? `, ${whole.format(observed)} of them only observed` : ""}${then ? ` · ${comparison(all, then, since)}` : ""}
    </p>
    ${sum.top.length === 0 && html`<p class="muted">Nobody was throttled ${since === "day" ? "today" : "in this stream"}.</p>`}
    <ol>
      ${sum.top.slice(0, 7).map((user) => html`
        <li key=${user.user_id}>
          <span class="bar" style=${{ width: `${(100 * count(user)) / most}%` }}></span>
          <a href=${linkTo(state, "people", { user: user.user_id })}><bdi>${nameOf(user)}</bdi></a>
          ${user.banned > 0 ? html`<span class="chip banned">banned</span>` : user.timed_out > 0 && html`<span class="chip timed-out">timed out</span>`}
          <span>${whole.format(count(user))}<span class="unseen"> ${count(user) === 1 ? "message" : "messages"}</span></span>
        </li>`)}
    </ol>
  `;
}

/** @param {{throttled: number, observed: number}} user */
const count = ({ throttled, observed }) => throttled + observed;

// comparison compares a number with the one of the same part of the day before, or of the last
// stream.
/** @param {number} now @param {number} then @param {Since} since */
export function comparison(now, then, since) {
  const other = since === "day" ? "yesterday by this time" : "the last stream by this time";
  const percent = Math.round((100 * (now - then)) / then);
  if (percent === 0) return `as many as ${other}`;
  if (percent > 200) return `${whole.format(Math.round(now / then))} times as many as ${other}`;
  return `${Math.abs(percent)} % ${percent < 0 ? "less" : "more"} than ${other}`;
}
