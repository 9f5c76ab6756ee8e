// @ts-check
// The card of the users who were throttled most, today or in the running stream.

import { number, rich, t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { follower } from "../core/follow.js";
import { linkTo } from "../core/route.js";
import { inForce, nameOf, update } from "../core/state.js";
import { annotated } from "../widgets/annotated.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { State } from "../core/state.js" */

/** @typedef {{channel: string, query: string, body: Api.getChannelsTop | null, problem: string}} Top */
/** @typedef {"day" | "stream"} Since */

// texts maps each period to the keys of its sentences.
/** @type {Record<Since, Record<string, TextKey>>} */
const texts = {
  day: {
    name: "now.today", sum: "now.sum-day", would: "now.sum-would-day", nobody: "now.nobody-day",
    same: "now.same-day", times: "now.times-day", less: "now.less-day", more: "now.more-day",
  },
  stream: {
    name: "now.this-stream", sum: "now.sum-stream", would: "now.sum-would-stream", nobody: "now.nobody-stream",
    same: "now.same-stream", times: "now.times-stream", less: "now.less-stream", more: "now.more-stream",
  },
};

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
        <h2 id="top-title">${t("now.top")}</h2>
        ${isLive && html`
          <div class="tabs" role="group" aria-label=${t("now.period")}>
            ${Object.entries(texts).map(([key, { name }]) => html`
              <button type="button" aria-pressed=${key === since ? "true" : "false"} onClick=${() => choose(/** @type {Since} */ (key))}>${t(name)}</button>`)}
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
  const said = rich(onlyObserves ? texts[since].would : texts[since].sum, { n: all, count: html`<strong>${number.format(all)}</strong>`, zone: timezone });
  return html`
    <p class="sum">
      ${observed > 0 && !onlyObserves ? rich("now.sum-observed", { sum: said, observed }) : said}${then ? `\u00a0· ${comparison(all, then, since)}` : ""}
    </p>
    ${sum.top.length === 0 && html`<p class="muted">${t(texts[since].nobody)}</p>`}
    <ol>
      ${sum.top.slice(0, 7).map((user) => html`
        <li key=${user.user_id}>
          <span class="bar" style=${{ width: `${(100 * count(user)) / most}%` }}></span>
          <a href=${linkTo(state, "people", { user: user.user_id })}><bdi>${nameOf(user)}</bdi></a>
          <${Silenced} state=${state} user=${user} />
          <span>${annotated("unseen", "now.messages", { n: count(user) })}</span>
        </li>`)}
    </ol>
  `;
}

// Silenced says whether a user is timed out or banned now, or was in this period.
/** @param {{state: State, user: Api.getChannelsTop["throttled"]["top"][number]}} props */
function Silenced({ state, user: { user_id: id, banned, timed_out: timedOut } }) {
  const silence = inForce(state.users.get(id)?.silenced);
  if (silence) return silence.banned ? html`<span class="chip banned">${t("now.banned")}</span>` : html`<span class="chip timed-out">${t("now.timed-out")}</span>`;
  if (banned + timedOut === 0) return null;
  return html`<span class="chip skipped">${banned > 0 ? t("now.was-banned") : t("now.was-timed-out")}</span>`;
}

/** @param {{throttled: number, observed: number}} user */
const count = ({ throttled, observed }) => throttled + observed;

// comparison compares a number with that of the same part of yesterday or of the last stream.
/** @param {number} now @param {number} then @param {Since} since */
export function comparison(now, then, since) {
  const { same, times, less, more } = texts[since];
  const percent = Math.round((100 * (now - then)) / then);
  if (percent === 0) return t(same);
  if (percent > 200) return t(times, { n: Math.round(now / then) });
  return t(percent < 0 ? less : more, { percent: Math.abs(percent) });
}
