// @ts-check
// The state of chatguard: every part of it, and one word for all of them.

import { t } from "../../text/text.js";
import { raidSignsOf } from "../core/state.js";
import { clock } from "../words/time.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Connection, Database, Shared, State } from "../core/state.js" */

/**
 * Part is the state of one part. kind is "good", "notice", "warn", "bad" or "off". short is the
 * text for the header if text is too long. Commands in detail are in `backticks`.
 * @typedef {{kind: string, text: string, short?: string, detail?: string}} Part
 */

/** @type {Record<string, [kind: string, word: TextKey]>} */
const connectionStates = {
  connected: ["good", "shell.state-connected"], connecting: ["warn", "shell.state-connecting"], disconnected: ["bad", "shell.state-disconnected"],
  valid: ["good", "shell.state-valid"], unchecked: ["warn", "shell.state-unchecked"], refused: ["bad", "shell.state-refused"], missing: ["bad", "shell.state-missing"],
  observing: ["notice", "shell.state-observing"], paused: ["notice", "shell.state-paused"], "raid mode": ["notice", "shell.state-raid"],
  "slow mode": ["notice", "shell.state-slow"], standby: ["notice", "shell.state-standby"], "limits as configured": ["warn", "shell.state-configured"],
  renamed: ["warn", "shell.state-renamed"], "not renewed": ["warn", "shell.state-unrenewed"], "not read": ["bad", "shell.state-unread"], "not enforcing": ["bad", "shell.state-unenforcing"],
  "moderated by nobody": ["bad", "shell.state-unmoderated"], "moderated alone": ["warn", "shell.state-alone"],
  "not asked yet": ["off", "shell.state-unasked"], ok: ["good", "shell.state-ok"], low: ["warn", "shell.state-low"], failing: ["bad", "shell.state-failing"],
};

/** @type {Record<string, TextKey>} */
const connectionNames = { Helix: "shell.twitch-api", Token: "shell.token", Certificate: "shell.certificate" };

// partsOf returns the state of every part, without the connection of the page itself.
/** @param {State} of @returns {Part[]} */
export function partsOf({ policy, status, channels }) {
  const mode = policy && modeOf(policy);
  const database = status?.database && databaseOf(status.database);
  const shared = status?.shared && sharedOf(status.shared);
  return [mode, ...(status?.connections ?? []).map((c) => connectionOf(c, channels)), database, shared].filter(Boolean);
}

// modeOf returns the mode in force: an enforcing policy only observes while its channel is paused.
/** @param {State["policy"]} policy @returns {Part} */
function modeOf(policy) {
  if (policy.in_force === "enforce") return { kind: "good", text: t("shell.enforcing") };
  return { kind: "notice", text: t("shell.observing"), detail: t("shell.observing-about") };
}

// connectionOf returns the state of a connection. Even a state that this page doesn't know is
// readable.
/** @param {Connection} connection @param {State["channels"]} channels @returns {Part} */
function connectionOf({ name, state, detail }, channels) {
  const [kind, word] = connectionStates[state] ?? ["off"];
  const names = connectionNames[name];
  const switched = switchDetail(state, channels.find(({ login }) => name === `#${login}`));
  return { kind, text: t("shell.connection", { name: names ? t(names) : name, state: word ? t(word) : state }), detail: switched ?? detail };
}

// switchDetail says more about a channel that is paused or in raid mode.
/** @param {string} state @param {State["channels"][number] | undefined} channel */
function switchDetail(state, channel) {
  if (state === "paused" && channel?.paused_by) return t("shell.paused-by", { who: channel.paused_by });
  if (state === "raid mode" && channel?.raid_until) return t("shell.raid-until", { time: clock(Date.parse(channel.raid_until)) });
  return undefined;
}

/** @param {Database} database @returns {Part} */
function databaseOf({ state, detail }) {
  switch (state) {
    case "ok":
      return { kind: "good", text: t("shell.database-ok"), detail };
    case "off":
      return { kind: "off", text: t("shell.database-off"), detail: t("shell.database-off-about") };
  }
  return { kind: "bad", text: t("shell.database-failing"), detail };
}

/** @param {Shared} shared @returns {Part} */
function sharedOf({ mode, up, refusing, problem: detail }) {
  if (!up) return { kind: "bad", text: t("shell.store-away"), short: t("shell.store-away-short"), detail };
  if (refusing) return { kind: "bad", text: t("shell.store-refuses"), short: t("shell.store-refuses-short"), detail };
  if (detail) return { kind: "warn", text: t("shell.store-check"), short: t("shell.store-check-short"), detail };
  if (mode === "shares") return { kind: "good", text: t("shell.store-shares") };
  return { kind: "good", text: t("shell.store-ok") };
}

// summaryOf returns the worst state in a few words, with its kind and its icon. Kinds are those of
// parts, and "raid" and "paused". isTrouble is true if something has failed.
/** @param {State} state */
export function summaryOf(state) {
  const { channels, channel, feed, status, policy } = state;
  if (feed.state === "lost") return { kind: "bad", icon: "alert", word: t("shell.disconnected"), isTrouble: true };
  if (!status) return { kind: "off", icon: "", word: t("shell.connecting"), isTrouble: false };

  const parts = partsOf(state);
  const bad = parts.filter(({ kind }) => kind === "bad"), problems = parts.filter(({ kind }) => kind === "bad" || kind === "warn");
  const isTrouble = bad.length > 0;
  if (problems.length > 0) {
    const [{ kind, text, short }] = isTrouble ? bad : problems;
    return { kind, icon: "alert", word: problems.length === 1 ? (short ?? text) : t("shell.problems", { n: problems.length }), isTrouble };
  }
  const { paused_by: pausedBy, raid_until: raidUntil } = channels.find((c) => c.id === channel) ?? {};
  if (pausedBy) return { kind: "paused", icon: "pause", word: t("shell.paused"), isTrouble };
  if (raidUntil) return { kind: "raid", icon: "raid", word: t("shell.raid"), isTrouble };
  if (raidSignsOf(state)) return { kind: "raid", icon: "raid", word: t("shell.raid-signs"), isTrouble };
  if (policy?.in_force === "observe") return { kind: "notice", icon: "", word: t("shell.observing"), isTrouble };
  return { kind: "good", icon: "", word: t("shell.good"), isTrouble };
}
