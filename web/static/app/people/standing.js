// @ts-check
// A user's usage of each limit.

import { commas, rich, t, table } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { channelZone } from "../core/state.js";
import { annotated } from "../widgets/annotated.js";
import { algorithmOf, amount } from "../words/algorithms.js";
import { roleName } from "../words/roles.js";
import { ruleOf } from "../words/rules.js";
import { sharers } from "../words/scopes.js";
import { upcoming, waitUntil } from "../words/time.js";
/** @import { Shared } from "../core/state.js" */
/** @import { Card } from "./people.js" */

const columns = table({
  limit: "now.limit", used: "people.column-used", left: "people.column-left", next: "people.column-next", resets: "people.column-resets", numbers: "people.column-numbers",
});

/** @param {{card: Card, shared?: Shared}} props */
export function UserLimits({ card, shared }) {
  const { limits, timezone, verdict } = card;
  const at = Date.parse(verdict.at);
  const notes = [counted(shared), timezone !== channelZone() && t("people.day-zone", { zone: timezone })].filter(Boolean);
  const same = verdict.exempt ? [] : card.same_text;
  if (limits.length === 0 && same.length === 0) return html`<p class="part muted">${t("people.no-limits")}</p>`;
  return html`
    ${limits.length > 0 && html`<${Standings} limits=${limits} notes=${notes} at=${at} zone=${timezone} />`}
    ${same.length > 0 && html`<${SameText} limits=${same} />`}
  `;
}

// whose says whose copies of a message count.
/** @type {Record<string, string>} */
const whose = table({ "user-text": "people.same-by-one", text: "people.same-by-all" });

// SameText says what each message may be repeated: nobody has an allowance of that.
/** @param {{limits: Api.Limit[]}} props */
function SameText({ limits }) {
  return html`
    <section class="part" aria-labelledby="same-text">
      <h3 id="same-text">${t("people.same-text")}</h3>
      <ul class="same-text">
        ${limits.map((limit) => html`<li key=${limit.name}><bdi>${limit.name}</bdi> <span class="muted">${commas([ruleOf(limit, channelZone()), whose[limit.per], limit.similar && t("rules.same-similar")])}</span></li>`)}
      </ul>
    </section>
  `;
}

/** @param {{limits: Api.LimitStatus[], notes: string[], at: number, zone: string}} props */
function Standings({ limits, notes, at, zone }) {
  return html`
    <section class="part" aria-labelledby="limits-of-user">
      <h3 id="limits-of-user">${t("people.limits")} ${notes.length > 0 && html`<span class="muted">${notes.join("\u00a0· ")}</span>`}</h3>
      <div class="standing" role="table" aria-labelledby="limits-of-user">
        <div role="row" class="head">${Object.values(columns).map((name) => html`<span role="columnheader">${name}</span>`)}</div>
        ${limits.map((limit) => html`<${Standing} key=${limit.name} limit=${limit} at=${at} zone=${zone} />`)}
      </div>
    </section>
  `;
}

// counted says whose messages count if several nodes share limits.
/** @param {Shared | undefined} shared */
function counted(shared) {
  if (!shared) return "";
  if (shared.mode === "shares") return t("people.used-node");
  return shared.up ? t("people.used-nodes") : t("people.used-known");
}

// Standing shows a limit at the time of the card. zone is that of the user's day.
/** @param {{limit: Api.LimitStatus, at: number, zone: string}} props */
function Standing({ limit, at, zone }) {
  const { name, used = 0, capacity = 0, granted = 0, remaining = 0 } = limit;
  const share = t("people.share", { used: amount(Math.min(used, capacity)), capacity: amount(capacity) });
  return html`
    <div role="row" class="line">
      <span role="cell" class="limit"><bdi>${name}</bdi> <span class="muted">${kind(limit)}</span></span>
      <span role="cell" class="used">
        <meter min="0" max=${Math.max(capacity, 1)} value=${Math.min(used, capacity)} aria-label=${t("people.used", { share })}></meter>
        <span class="figure">${annotated("unit", "people.used", { share })}</span>
        ${used > capacity && html` <span class="muted">${t("people.written", { n: used })}</span>`}
      </span>
      <span role="cell" class="left">${annotated("unit", "people.left", { n: remaining })}${granted > 0 && html` <span class="muted">${t("people.granted", { n: granted })}</span>`}</span>
      <span role="cell" class="next">${annotated("unit", "people.next", { when: next(limit, at) })}</span>
      <span role="cell" class="resets">${resets(limit, at, zone)}</span>
      <span role="cell" class="numbers muted">${numbers(limit)}</span>
    </div>
  `;
}

/** @param {Api.LimitStatus} limit */
function kind(limit) {
  return commas([algorithmOf(limit).name, limit.per && limit.per !== "user" && sharers[limit.per], limit.observes && t("people.observes")]);
}

// next says when the limit itself lets a message through. The user may have to wait longer, for a
// timeout, a ban or another limit, which the card says above.
/** @param {Api.LimitStatus} of @param {number} cardAt */
function next({ next_at: nextAt }, cardAt) {
  if (!nextAt) return html`<span class="bad">${t("people.never")}</span>`;
  const at = Date.parse(nextAt);
  if (at <= cardAt) return html`<span class="good">${t("people.now")}</span>`;
  return rich("people.next-in", { wait: waitUntil(at), time: html`<time class="muted" datetime=${nextAt}>${upcoming(at)}</time>` });
}

/** @param {Api.LimitStatus} of @param {number} cardAt @param {string} zone */
function resets({ algorithm, used = 0, reset_at: resetAt }, cardAt, zone) {
  const at = Date.parse(resetAt ?? "");
  if (!(at > cardAt)) return html`<span class="muted">${used > 0 ? t("people.resets-now") : t("people.unused")}</span>`;
  const time = t("people.at", { time: upcoming(at, algorithm === "daily-window" ? zone : undefined) });
  const when = rich("people.resets-in", { wait: waitUntil(at), time: html`<time class="muted" datetime=${resetAt}>${time}</time>` });
  return annotated("unit", "people.resets", { when });
}

/** @param {Api.LimitStatus} of */
function numbers({ own, role }) {
  if (own) return t("people.own-numbers");
  return role && role !== "everyone" ? t("people.of-role", { role: roleName(role) }) : roleName("everyone");
}
