// @ts-check
// Why a user may or may not write, in one sentence.

import { rich, sentences, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { nameOf, now } from "../core/state.js";
import { roleNames } from "./roles.js";
import { repeatsSaid } from "./repeats.js";
import { authorName } from "./author.js";
import { clock, upcoming, wait, waitUntil } from "./time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */

/** @param {{card: Api.getChannelsUsers, state: State}} props */
export function Why({ card, state: { policy, channels, channel } }) {
  const { verdict, silenced } = card, end = Date.parse(silenced?.until ?? "");
  const who = html`<bdi>${nameOf(card)}</bdi>`, by = giverOf(silenced);
  if (silenced?.banned) return by ? rich("rules.why-banned-by", { who, by }) : rich("rules.why-banned", { who });
  if (end > now()) return timedOut(who, end, verdict, by);
  const silentUntil = Date.parse(card.silent_until ?? "");
  if (silentUntil > now()) {
    if (policy?.mode === "observe") return rich("rules.why-observed", { who, wait: wait(silentUntil - now()), time: upcoming(silentUntil) });
    return timedOut(who, silentUntil, verdict, null); // a timeout lasts even while the channel is paused
  }
  if (verdict.exempt) return exempt(who, card);
  if (verdict.limit === "") return left(who, verdict, card.limits);

  const values = { who, limit: named(verdict), next: passing(verdict) };
  if (!verdict.allowed) return rich("rules.why-throttled", values);
  const { paused_by: pausedBy } = channels.find((c) => c.id === channel) ?? {};
  if (pausedBy) return rich("rules.why-paused", { ...values, by: html`<bdi>${authorName(pausedBy)}</bdi>` });
  return policy?.in_force === "enforce" ? rich("rules.why-limit-observes", values) : rich("rules.why-observes", values);
}

/** @param {Api.Verdict} verdict */
const named = ({ limit }) => html`<bdi>${limit}</bdi>`;

// timedOut says when a timed-out user may write again and, if a limit throttles them after that,
// which one. The sentence names who gave the timeout, if that is known.
/** @param {Value} who @param {number} end @param {Api.Verdict} verdict @param {Value} by */
function timedOut(who, end, verdict, by) {
  const { allowed, never, at, retry_after_ms: retry } = verdict, time = upcoming(end);
  const isThrottledLonger = !allowed && (never || retry === null || Date.parse(at) + retry > end);
  if (isThrottledLonger) {
    const values = { who, time, limit: named(verdict), next: passing(verdict) };
    return by ? rich("rules.why-timeout-by-throttled", { ...values, by }) : rich("rules.why-timeout-throttled", values);
  }
  const values = { who, time, wait: wait(end - now()) };
  return by ? rich("rules.why-timeout-by", { ...values, by }) : rich("rules.why-timeout", values);
}

// giverOf names who gave a timeout or ban; it is null if that isn't known.
/** @param {Api.Silence | null | undefined} silence */
const giverOf = (silence) => (silence?.by ? html`<bdi>${authorName(silence.by)}</bdi>` : null);

/** @param {Value} who @param {Api.getChannelsUsers} of */
function exempt(who, { override: { exempt, exempt_until: until }, roles: held }) {
  if (exempt === "always") return until ? rich("rules.why-exempt-until", { who, time: clock(Date.parse(until)) }) : rich("rules.why-exempt-always", { who });
  const roles = roleNames(held);
  return roles ? rich("rules.why-exempt-as", { who, roles }) : rich("rules.why-exempt", { who });
}

// passing says when the next message passes. A verdict's wait counts from the verdict's time.
/** @param {Api.Verdict} of */
function passing({ at, retry_after_ms: retry, never }) {
  if (never || retry === null) return t("rules.why-never");
  const next = Date.parse(at) + retry;
  return t("rules.why-next", { wait: waitUntil(next), time: upcoming(next) });
}

// left describes the limit that leaves the fewest messages.
/** @param {Value} who @param {Api.Verdict & {priority?: string}} verdict @param {Api.LimitStatus[]} limits */
function left(who, { priority }, limits) {
  const deciding = limits.filter((limit) => !limit.observes), isLow = priority === "low";
  if (deciding.length === 0) return isLow ? rich("rules.why-low-free", { who }) : rich("rules.why-free", { who });
  const { name, remaining = 0, capacity, granted = 0 } = deciding.reduce((least, limit) => ((limit.remaining ?? 0) < (least.remaining ?? 0) ? limit : least));
  const values = { who, n: remaining, limit: html`<bdi>${name}</bdi>` };
  if (granted > 0) return isLow ? rich("rules.why-low-left-granted", { ...values, granted }) : rich("rules.why-left-granted", { ...values, granted });
  return isLow ? rich("rules.why-low-left", { ...values, capacity }) : rich("rules.why-left", { ...values, capacity });
}

// sameAgain says when the user's last throttled message may be written again, and how often it was
// written. It is empty if only other limits or a timeout make the user wait.
/** @param {Api.getChannelsUsers} card */
export function sameAgain({ same_again: same, silenced, silent_until: silentUntil }) {
  const at = Date.parse(same?.may_speak_at ?? "");
  if (!same || silenced?.banned || !(at > Math.max(now(), Date.parse(silenced?.until ?? "") || 0, Date.parse(silentUntil ?? "") || 0))) return "";
  return sentences(t("rules.why-same", { wait: waitUntil(at), time: upcoming(at), limit: same.limit }), repeatsSaid(same.repeats));
}
