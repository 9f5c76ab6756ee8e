// @ts-check
// Alerts for a person who looks elsewhere: it looks like a raid, raid mode has started, something
// has failed, many users are throttled.

import { t } from "../../text/text.js";
import { raidSignsOf, standing } from "../core/state.js";
import { beep, notify } from "./signal.js";
import { partsOf, summaryOf } from "./status.js";
/** @import { Alerts, State } from "../core/state.js" */

/**
 * Signs are the part of the state that alerts depend on, at one moment.
 * @typedef {object} Signs
 * @property {string} channel
 * @property {boolean} isRaid raid mode is on
 * @property {boolean} looksRaided
 * @property {string[]} failures
 * @property {number} throttled
 * @property {boolean} isMany enough users for an alert were throttled, and have not become much
 *   fewer since
 */

/** @type {Signs | null} */
let before = null; // null until chatguard has told the state

// watchAlerts tells the person what has changed since the last call. It never tells what was there
// when the page was loaded or another channel was chosen.
/** @param {State} state */
export function watchAlerts(state) {
  if (state.session !== "in" || !state.status) return forget();
  const { alerts } = state.preferences;
  const after = signsOf(state, before, alerts);
  const texts = before?.channel === after.channel ? alertsOf(before, after, alerts) : [];
  before = after;
  badge(summaryOf(state).isTrouble || after.isRaid || after.looksRaided);
  for (const text of texts) tell(text, alerts);
}

function forget() {
  before = null;
  badge(false);
}

/** @param {string} text @param {Alerts} how */
export function tell(text, { sound, notify: isNotified }) {
  if (sound) beep();
  if (isNotified) notify(text);
}

// signsOf returns the signs of a state. isMany stays true until fewer than half of the chosen
// number of users are throttled, so that a number near the threshold doesn't alert again and again.
/** @param {State} state @param {Signs | null} before @param {Alerts} alerts @returns {Signs} */
export function signsOf(state, before, { count }) {
  const { channels, channel, feed } = state;
  const { throttled } = standing();
  const shown = channels.find((c) => c.id === channel);
  const failures = partsOf(state).filter(({ kind }) => kind === "bad").map(({ text }) => text);
  if (feed.state === "lost") failures.push(t("shell.connection-lost"));
  const isMany = throttled >= count || (before?.channel === channel && before.isMany && throttled >= count / 2);
  return { channel, isRaid: Boolean(shown?.raid_until), looksRaided: Boolean(raidSignsOf(state)), failures, throttled, isMany };
}

// alertsOf returns what to tell, in words.
/** @param {Signs} before @param {Signs} after @param {Alerts} chosen */
export function alertsOf(before, after, { raid, failure, many }) {
  const texts = [];
  if (raid && after.isRaid && !before.isRaid) texts.push(t("shell.raid-started"));
  if (raid && after.looksRaided && !before.looksRaided) texts.push(t("shell.raid-looks"));
  if (failure) for (const text of after.failures) if (!before.failures.includes(text)) texts.push(t("shell.sentence", { what: text }));
  if (many && after.isMany && !before.isMany) texts.push(t("shell.users-throttled", { n: after.throttled }));
  return texts;
}

// badge marks the icon of the tab.
/** @param {boolean} isOn */
function badge(isOn) {
  const icon = /** @type {HTMLLinkElement} */ (document.getElementById("favicon"));
  const name = isOn ? "favicon-alert.svg" : "favicon.svg";
  if (icon.getAttribute("href") !== name) icon.href = name;
}
