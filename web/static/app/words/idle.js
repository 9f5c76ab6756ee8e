// @ts-check
// Why a channel only observes although its policy enforces.

/** @import { State } from "../core/state.js" */

const broken = ["missing", "refused", "disconnected", "connecting"]; // states of the token and of Twitch

// whyIdle returns the reason in a sentence, with commands in `backticks`. It is empty if the policy
// in force enforces or is set to observe.
/** @param {Pick<State, "policy" | "status" | "channels" | "channel">} of */
export function whyIdle({ policy, status, channels, channel }) {
  if (!policy || policy.mode !== "enforce" || policy.in_force === "enforce") return "";
  const shown = channels.find(({ id }) => id === channel);
  const connections = status?.connections ?? [];
  const own = connections.filter(({ name }) => name === `#${shown?.login}`);
  const paused = own.find(({ state }) => state === "paused");
  if (paused || shown?.paused_by) return sentence(`the channel is paused ${paused?.detail ?? `by ${shown.paused_by}`}`);
  const held = own.find(({ state }) => state === "observing");
  if (held) return sentence(held.detail);
  const found = connections.find(({ state }) => broken.includes(state));
  return found ? sentence(found.detail || `${found.name} ${found.state}`) : sentence("the status of chatguard shows the reason");
}

const start = "Not enforcing";

/** @param {string} reason */
const sentence = (reason) => (reason.startsWith(start) ? reason : `${start} right now: ${reason.replace(/\.?$/, ".")}`);
