// @ts-check
// A user's usage of each limit.

import { html } from "../../vendor/htm-preact.js";
import { channelZone } from "../core/state.js";
import { algorithmOf, amount } from "../words/algorithms.js";
import { roleName } from "../words/roles.js";
import { sharers } from "../words/scopes.js";
import { upcoming, waitUntil } from "../words/time.js";
/** @import { Shared } from "../core/state.js" */
/** @import { Card } from "./people.js" */

const columns = ["Limit", "Used", "Left", "Next message", "Resets", "Based on"];

/** @param {{card: Card, shared?: Shared}} props */
export function UserLimits({ card, shared }) {
  const { limits, timezone, verdict } = card;
  const at = Date.parse(verdict.at);
  const notes = [counted(shared), timezone !== channelZone() && `the user’s day follows ${timezone}`].filter(Boolean);
  if (limits.length === 0) return html`<p class="part muted">No limits in this channel.</p>`;
  return html`
    <section class="part" aria-labelledby="limits-of-user">
      <h3 id="limits-of-user">Limits ${notes.length > 0 && html`<span class="muted">${notes.join(" · ")}</span>`}</h3>
      <div class="standing" role="table" aria-labelledby="limits-of-user">
        <div role="row" class="head">${columns.map((name) => html`<span role="columnheader">${name}</span>`)}</div>
        ${limits.map((limit) => html`<${Standing} key=${limit.name} limit=${limit} at=${at} zone=${timezone} />`)}
      </div>
    </section>
  `;
}

// counted says whose messages count if several nodes share limits.
/** @param {Shared | undefined} shared */
function counted(shared) {
  if (!shared) return "";
  if (shared.mode === "shares") return "used on this node";
  return shared.up ? "used on all nodes" : "used on all nodes, as far as this one knows";
}

// Standing shows a limit at the time of the card. zone is that of the user's day.
/** @param {{limit: Api.LimitStatus, at: number, zone: string}} props */
function Standing({ limit, at, zone }) {
  const { name, used = 0, capacity = 0, granted = 0, remaining = 0 } = limit;
  return html`
    <div role="row" class="line">
      <span role="cell" class="limit"><bdi>${name}</bdi> <span class="muted">${kind(limit)}</span></span>
      <span role="cell" class="used">
        <meter min="0" max=${Math.max(capacity, 1)} value=${Math.min(used, capacity)} aria-label=${`${amount(used)} of ${amount(capacity)} used`}></meter>
        <span class="figure">${amount(used)} of ${amount(capacity)}<span class="unit"> used</span></span>
      </span>
      <span role="cell" class="left">${amount(remaining)}<span class="unit"> left</span>${granted > 0 && html`<span class="muted"> with ${amount(granted)} extra</span>`}</span>
      <span role="cell" class="next"><span class="unit">next message </span>${next(limit, at)}</span>
      <span role="cell" class="resets">${resets(limit, at, zone)}</span>
      <span role="cell" class="numbers muted">${numbers(limit)}</span>
    </div>
  `;
}

/** @param {Api.LimitStatus} limit */
function kind(limit) {
  return algorithmOf(limit).name + (limit.per && limit.per !== "user" ? `, ${sharers[limit.per]}` : "") + (limit.observes ? ", observe only" : "");
}

/** @param {Api.LimitStatus} of @param {number} cardAt */
function next({ next_at: nextAt }, cardAt) {
  if (!nextAt) return html`<span class="bad">never</span>`;
  const at = Date.parse(nextAt);
  return at <= cardAt ? html`<span class="good">now</span>` : html`in ${waitUntil(at)} <time class="muted" datetime=${nextAt}>${upcoming(at)}</time>`;
}

/** @param {Api.LimitStatus} of @param {number} cardAt @param {string} zone */
function resets({ algorithm, used = 0, reset_at: resetAt }, cardAt, zone) {
  const at = Date.parse(resetAt ?? "");
  if (!(at > cardAt)) return html`<span class="muted">${used > 0 ? "resets now" : "nothing used"}</span>`;
  return html`<span class="unit">resets </span>in ${waitUntil(at)}, <time class="muted" datetime=${resetAt}>at ${upcoming(at, algorithm === "daily-window" ? zone : undefined)}</time>`;
}

/** @param {Api.LimitStatus} of */
function numbers({ own, role }) {
  if (own) return "custom numbers";
  return role && role !== "everyone" ? `role ${roleName(role)}` : "everyone";
}
