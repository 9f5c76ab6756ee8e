// @ts-check
// Why a channel only observes although its policy enforces.

import { t } from "../../text/text.js";
import { authorName } from "./author.js";
/** @import { State } from "../core/state.js" */
/** @import { TextKey } from "../../text/text.js" */

// broken maps states of the token and of Twitch to sentences without a detail.
/** @type {Record<string, TextKey>} */
const broken = { missing: "rules.idle-missing", refused: "rules.idle-refused", disconnected: "rules.idle-disconnected", connecting: "rules.idle-connecting" };

// whyIdle returns the reason in a sentence, with commands in `backticks`. It is empty if the policy
// in force enforces or is set to observe.
/** @param {Pick<State, "policy" | "status" | "channels" | "channel">} of */
export function whyIdle({ policy, status, channels, channel }) {
  if (!policy || policy.mode !== "enforce" || policy.in_force === "enforce") return "";
  const shown = channels.find(({ id }) => id === channel);
  const connections = status?.connections ?? [];
  const own = connections.filter(({ name }) => name === `#${shown?.login}`);
  const by = shown?.paused_by || own.find(({ state }) => state === "paused")?.detail?.replace(/^by /, "");
  if (by) return t("rules.idle-paused-by", { by: authorName(by) });
  const held = own.find(({ state }) => state === "not enforcing");
  if (held) return because(held.detail);
  const found = connections.find(({ state }) => broken[state]);
  if (!found) return t("rules.idle-unknown");
  return found.detail ? because(found.detail) : t(broken[found.state], { name: found.name });
}

// because writes a reason of chatguard, which may already be the whole sentence.
/** @param {string} reason */
const because = (reason) => (reason.startsWith("Not enforcing") ? reason : t("rules.idle-because", { reason: reason.replace(/\.$/, "") }));
