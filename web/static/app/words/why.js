// @ts-check
// Why a user may or may not write, in one sentence.

import { html } from "../../vendor/htm-preact.js";
import { nameOf, now } from "../core/state.js";
import { amount } from "./algorithms.js";
import { roleNames } from "./roles.js";
import { giver } from "./silence.js";
import { clock, upcoming, wait, waitUntil } from "./time.js";
/** @import { State } from "../core/state.js" */

/** @param {{card: Api.getChannelsUsers, state: State}} props */
export function Why({ card, state: { policy, channels, channel } }) {
  const { verdict } = card;
  const who = html`<bdi>${nameOf(card)}</bdi>`;
  const { silenced } = card, end = Date.parse(silenced?.until ?? "");
  if (silenced?.banned) return html`${who} is banned${by(silenced)}.`;
  if (end > now()) return html`${who} is timed out${by(silenced)} ${until(end, verdict)}.`;
  const silentUntil = Date.parse(card.silent_until ?? "");
  if (silentUntil > now()) {
    if (policy?.mode === "observe") {
      return html`${who} may write now: chatguard only observes. Otherwise they would be timed out for another ${wait(silentUntil - now())}, until ${upcoming(silentUntil)}.`;
    }
    return html`${who} is timed out ${until(silentUntil, verdict)}.`; // a timeout lasts even while the channel is paused
  }
  if (verdict.exempt) return html`${who} may write without limits${exemption(card)}.`;
  if (verdict.limit === "") return html`${who} may write now${priority(verdict)}${left(card.limits)}.`;

  const limit = named(verdict);
  const passes = passing(verdict);
  if (!verdict.allowed) return html`${who} is throttled by ${limit}: ${passes}.`;
  const { paused_by: pausedBy } = channels.find((c) => c.id === channel) ?? {};
  const idle = pausedBy ? html`the channel is paused by <bdi>${pausedBy}</bdi>` : policy?.in_force === "enforce" ? "this limit only observes" : "chatguard only observes";
  return html`${who} may write: ${idle}. Otherwise ${limit} would throttle them: ${passes}.`;
}

/** @param {Api.Verdict & {priority?: string}} of */
const priority = ({ priority }) => (priority === "low" ? ", at low priority" : "");

/** @param {Api.Verdict} verdict */
const named = ({ limit }) => html`the limit “<bdi>${limit}</bdi>”`;

// until says when a timed out user may write again, and what throttles them until later than that.
/** @param {number} end @param {Api.Verdict} verdict */
function until(end, verdict) {
  const { allowed, never, at, retry_after_ms: retry } = verdict;
  const isHeldLonger = !allowed && (never || retry === null || Date.parse(at) + retry > end);
  if (isHeldLonger) return html`until ${upcoming(end)}, and throttled by ${named(verdict)} after that: ${passing(verdict)}`;
  return html`and may write again in ${wait(end - now())}, at ${upcoming(end)}`;
}

// by names who gave a timeout or ban, unless it was chatguard.
/** @param {Api.Silence} silence */
function by({ by: name }) {
  return name && name !== "chatguard" && html` by <bdi>${giver(name)}</bdi>`;
}

/** @param {Api.getChannelsUsers} of */
function exemption({ override, roles }) {
  if (override.exempt === "always") {
    return override.exempt_until ? `, exempted until ${clock(Date.parse(override.exempt_until))}` : ", exempted permanently";
  }
  return roleNames(roles) && `, exempt as ${roleNames(roles)}`;
}

// passing says when the next message passes. A verdict's wait counts from the verdict's time.
/** @param {Api.Verdict} of */
function passing({ at, retry_after_ms: retry, never }) {
  if (never || retry === null) return "it allows them no messages";
  const next = Date.parse(at) + retry;
  return `the next message passes in ${waitUntil(next)}, at ${upcoming(next)}`;
}

// left describes the limit that leaves the fewest messages.
/** @param {Api.LimitStatus[]} limits */
function left(limits) {
  const deciding = limits.filter((limit) => !limit.observes);
  if (deciding.length === 0) return ": no limits";
  const { name, remaining = 0, capacity, granted = 0 } = deciding.reduce((least, limit) => ((limit.remaining ?? 0) < (least.remaining ?? 0) ? limit : least));
  const extra = granted > 0 ? `, ${amount(granted)} of them granted` : "";
  return html`: ${granted > 0 ? amount(remaining) : `${amount(remaining)} of ${amount(capacity)}`} messages left in the limit “<bdi>${name}</bdi>”${extra}`;
}
