// @ts-check
// The state of chatguard: every part of it, and one word for all of them.

/** @import { Connection, Database, Shared, State } from "../core/state.js" */

/**
 * Part is the state of one part. kind is "good", "notice", "warn", "bad" or "off". short is the
 * text for the header if text is too long. Commands in detail are in `backticks`.
 * @typedef {{kind: string, text: string, short?: string, detail?: string}} Part
 */

/** @type {Record<string, string>} */
const connectionKinds = {
  connected: "good", connecting: "warn", disconnected: "bad",
  valid: "good", unchecked: "warn", refused: "bad", missing: "bad",
  observing: "notice", paused: "notice", "raid mode": "notice", "slow mode": "notice", standby: "notice",
  "not asked yet": "off", ok: "good", low: "warn", failing: "bad", "limits as configured": "warn",
};

// partsOf returns the state of every part, without the connection of the page itself.
/** @param {State} of @returns {Part[]} */
export function partsOf({ policy, status }) {
  const mode = policy && modeOf(policy);
  const database = status?.database && databaseOf(status.database);
  const shared = status?.shared && sharedOf(status.shared);
  return [mode, ...(status?.connections ?? []).map(connectionOf), database, shared].filter(Boolean);
}

// modeOf returns the mode in force: an enforcing policy only observes while its channel is paused.
/** @param {State["policy"]} policy @returns {Part} */
function modeOf(policy) {
  if (policy.in_force === "enforce") return { kind: "good", text: "Enforcing" };
  return { kind: "notice", text: "Observing", detail: "nobody is throttled" };
}

/** @param {Connection} of @returns {Part} */
const connectionOf = ({ name, state, detail }) => ({ kind: connectionKinds[state] ?? "off", text: `${name === "Helix" ? "Twitch API" : name} ${state}`, detail });

/** @param {Database} database @returns {Part} */
function databaseOf({ state, detail }) {
  switch (state) {
    case "ok":
      return { kind: "good", text: "Database ok", detail };
    case "off":
      return { kind: "off", text: "No database", detail: "nothing is saved" };
  }
  return { kind: "bad", text: "Database failing", detail };
}

/** @param {Shared} shared @returns {Part} */
function sharedOf({ mode, up, refusing, problem: detail }) {
  if (!up) return { kind: "bad", text: "Shared store away", short: "Store away", detail };
  if (refusing) return { kind: "bad", text: "Shared store refuses changes", short: "Store refuses", detail };
  if (detail) return { kind: "warn", text: "Shared store: check", detail };
  if (mode === "shares") return { kind: "good", text: "Own part of the limits" };
  return { kind: "good", text: "Shared store ok" };
}

// summaryOf returns the worst state in a few words, with its kind and its icon. Kinds are those of
// parts, and "raid" and "paused". isTrouble is true if something has failed.
/** @param {State} state */
export function summaryOf(state) {
  const { channels, channel, feed, status, policy } = state;
  if (feed.state === "lost") return { kind: "bad", icon: "alert", word: "Disconnected", isTrouble: true };
  if (!status) return { kind: "off", icon: "", word: "Connecting…", isTrouble: false };

  const parts = partsOf(state);
  const bad = parts.filter(({ kind }) => kind === "bad"), problems = parts.filter(({ kind }) => kind === "bad" || kind === "warn");
  const isTrouble = bad.length > 0;
  if (problems.length > 0) {
    const [{ kind, text, short }] = isTrouble ? bad : problems;
    return { kind, icon: "alert", word: problems.length === 1 ? (short ?? text) : `${problems.length} problems`, isTrouble };
  }
  const { paused_by: pausedBy, raid_until: raidUntil } = channels.find((c) => c.id === channel) ?? {};
  if (pausedBy) return { kind: "paused", icon: "pause", word: "Paused", isTrouble };
  if (raidUntil) return { kind: "raid", icon: "raid", word: "Raid mode", isTrouble };
  if (policy?.in_force === "observe") return { kind: "notice", icon: "", word: "Observing", isTrouble };
  return { kind: "good", icon: "", word: "All good", isTrouble };
}
