// Why a user may write or not, in one sentence.

import { html } from "../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { roleNames } from "./roles.js";
import { now, shownID } from "./state.js";
import { clock, soon, wait } from "./time.js";

export function Why({ card, state: { policy, channels, channel } }) {
  const { verdict, timezone } = card;
  const who = html`<bdi>${card.login || shownID(card.user_id)}</bdi>`;
  const silentUntil = Date.parse(card.silent_until ?? "");
  if (silentUntil > now()) {
    const end = `in ${wait(silentUntil - now())}, at ${soon(silentUntil, timezone)}`;
    if (policy?.mode === "observe") return html`${who} may write now, because chatguard only observes. Else they would be timed out, and write again ${end}.`;
    return html`${who} is timed out: they may write again ${end}.`; // even while the channel is paused
  }
  if (verdict.exempt) return html`${who} may write without limits${exemption(card)}.`;
  if (verdict.limit === "") return html`${who} may write now${left(card.limits)}.`;

  const by = html`<bdi>${verdict.limit}</bdi>`;
  const passes = passing(verdict, timezone);
  if (!verdict.allowed) return html`${who} is held back by ${by}: ${passes}.`;
  const { paused_by: pausedBy } = channels.find((c) => c.id === channel) ?? {};
  const idle = pausedBy ? html`the channel is paused by <bdi>${pausedBy}</bdi>` : policy?.in_force === "enforce" ? "this limit only observes" : "chatguard only observes";
  return html`${who} may write, because ${idle}. Else ${by} would hold them back: ${passes}.`;
}

function exemption({ override, roles, timezone }) {
  if (override.exempt === "always") {
    return override.exempt_until ? `, exempt by name until ${clock(Date.parse(override.exempt_until), timezone)}` : ", exempt by name until somebody changes it";
  }
  return roleNames(roles) && `, exempt as ${roleNames(roles)}`;
}

// passing says when the next message passes; a verdict counts from when it was given.
function passing({ at, retry_after_ms: retry, never }, timezone) {
  if (never || retry === null) return "it leaves them no message at all";
  const next = Date.parse(at) + retry;
  return next <= now() ? "the next message passes now" : `the next message passes in ${wait(next - now())}, at ${soon(next, timezone)}`;
}

// left tells of the limit that leaves the fewest messages.
function left(limits) {
  const deciding = limits.filter((limit) => !limit.observes);
  if (deciding.length === 0) return ": there are no limits";
  const { name, algorithm, remaining = 0, capacity, granted = 0 } = deciding.reduce((least, limit) => ((limit.remaining ?? 0) < (least.remaining ?? 0) ? limit : least));
  const messages = algorithm === "token-bucket" ? "messages at once" : "messages";
  const extra = granted > 0 ? `, ${amount(granted)} of them granted` : "";
  return html`: ${granted > 0 ? amount(remaining) : `${amount(remaining)} of ${amount(capacity)}`} ${messages} left in <bdi>${name}</bdi>${extra}`;
}
