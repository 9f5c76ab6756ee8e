// @ts-check
// The channel's switches, pause and raid mode. The list of channels says which switches are on.

import { rich, t, table } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { mayModerate, now, state, unreadHere, update } from "../core/state.js";
import { ModesButton, modesHere } from "./modes-button.js";
import { Icon } from "../widgets/icon.js";
import { authorName, isProgram } from "../words/author.js";
import { modesOn } from "../words/modes.js";
import { clock, seconds, wait } from "../words/time.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { Database, State } from "../core/state.js" */

/** @typedef {keyof typeof requests} SwitchName */

/**
 * Pressed is the outcome of pressing a switch.
 * @typedef {object} Pressed
 * @property {boolean} busy chatguard hasn't answered yet
 * @property {string} problem why chatguard refused
 * @property {number} unsavedAt when chatguard answered that a restart would undo the change, ms; 0
 *   if a restart wouldn't undo it
 */

const requests = {
  pause: { on: ["POST", "pause"], off: ["POST", "resume"] },
  raid: { on: ["POST", "raid"], off: ["DELETE", "raid"] },
};

/** @type {Pressed} */
const unpressed = { busy: false, problem: "", unsavedAt: 0 };

// turn turns a switch "on" or "off". length is the duration of raid mode; empty means the usual
// one.
/** @param {SwitchName} name @param {"on" | "off"} to @param {string} [length] */
export async function turn(name, to, length) {
  if (state.pressed[name]?.busy) return;
  const pressed = { ...unpressed, busy: true };
  set(name, pressed);
  /** @param {Partial<Pressed>} news */
  const answered = (news) => state.pressed[name] === pressed && set(name, { ...pressed, busy: false, ...news }); // otherwise another channel is shown
  const [method, path] = requests[name][to];
  try {
    const { body } = await request(method, `/channels/${encodeURIComponent(state.channel)}/${path}`, length ? { body: { for: length } } : {});
    answered({ unsavedAt: body.saved ? 0 : now() });
  } catch (problem) {
    if (!ifSignedOut(problem)) answered({ problem: problem.message });
  }
}

/** @param {SwitchName} name @param {Pressed} pressed */
function set(name, pressed) {
  update((s) => (s.pressed = { ...s.pressed, [name]: pressed }));
}

// isUnsaved reports whether a restart would undo the last press of a switch.
/** @param {Partial<Pressed>} of @param {Database} database */
export function isUnsaved({ unsavedAt }, database) {
  if (!unsavedAt) return false;
  return database.state !== "ok" || unsavedAt >= now() - (database.lag_seconds ?? 0) * 1000;
}

// closeProblems hides the problems of all switches.
export function closeProblems() {
  for (const [name, pressed] of Object.entries(state.pressed)) if (pressed.problem) set(/** @type {SwitchName} */ (name), { ...pressed, problem: "" });
}

/** @typedef {{said: Value, title: string} | null} Standing */

// standingOf says what each switch has put in force in the channel shown, and who did that, if it is
// known; null if it is off.
/** @param {State} state @returns {Record<SwitchName | "modes", Standing>} */
function standingOf(state) {
  const { paused_by: pausedBy, raid_until: raidUntil, raid_by: raidBy, modes_by: modesBy } = state.channels.find((c) => c.id === state.channel) ?? {};
  const modes = modesHere(state), time = raidUntil ? clock(Date.parse(raidUntil)) : "";
  const isObserved = !pausedBy && state.policy?.in_force === "observe";
  return {
    pause: pausedBy ? inWords("now.paused-by", pausedBy) : null,
    raid: raidUntil ? inWords(isObserved ? "now.raid-observed" : isProgram(raidBy) ? "now.raid-automatic" : raidBy ? "now.raid-by" : "now.raid-until", raidBy, { time }) : null,
    modes: modesBy && modes && modesOn(modes).length > 0 ? inWords("now.modes-by", modesBy) : null,
  };
}

/** @param {TextKey} key @param {string} [author] @param {Record<string, string>} [values] */
function inWords(key, author = "", values = {}) {
  const who = authorName(author);
  return { said: rich(key, { ...values, who: html`<bdi>${who}</bdi>` }), title: t(key, { ...values, who }) };
}

const about = table({ pause: "now.pause-about", raid: "now.raid-about" });

// ChannelSwitches shows the buttons of the switches, in the head of the page.
/** @param {{state: State}} props */
export function ChannelSwitches({ state }) {
  const standing = standingOf(state);
  if (!state.status?.switches || !mayModerate()) return null;
  return html`
    <div class="switches" role="group" aria-label=${t("now.switches")}>
      <${Switch} state=${state} name="pause" icon=${standing.pause ? "play" : "pause"} on=${t("shell.pause")} off=${t("shell.resume")} isOn=${Boolean(standing.pause)} />
      <span class="together">
        <${Switch} state=${state} name="raid" icon="raid" on=${t("shell.raid-start")} off=${t("shell.raid-end")} isOn=${Boolean(standing.raid)} />
        <${RaidLength} state=${state} isOn=${Boolean(standing.raid)} />
      </span>
      <${ModesButton} state=${state} />
    </div>
  `;
}

// Switch is a single button, so that it keeps the focus when pressed. on and off are its labels; it
// has room for both, so that nothing moves.
/** @param {{state: State, name: SwitchName, icon: string, on: string, off: string, isOn: boolean}} props */
function Switch({ state, name, icon, on, off, isOn }) {
  const { busy } = state.pressed[name] ?? unpressed;
  const press = () => turn(name, isOn ? "off" : "on", isOn ? "" : state.raidLength);
  return html`
    <button type="button" id=${name} title=${about[name]} aria-disabled=${busy ? "true" : "false"} aria-describedby="${name}-about" onClick=${press}>
      <${Icon} name=${icon} /> <span class="label" data-other=${isOn ? on : off}>${isOn ? off : on}</span>
    </button>
  `;
}

const lengths = ["5m", "30m", "1h", "3h"];

// RaidLength chooses how long the next raid mode lasts. The first choice is the usual duration.
/** @param {{state: State, isOn: boolean}} props */
function RaidLength({ state: { channels, channel, raidLength }, isOn }) {
  const { raid_lasts: usual = "10m" } = channels.find((c) => c.id === channel) ?? {};
  const others = lengths.filter((length) => seconds(length) !== seconds(usual));
  return html`
    <select id="raid-length" class="quiet" aria-label=${t("now.raid-length")} disabled=${isOn} value=${raidLength} onChange=${(event) => update((s) => (s.raidLength = event.target.value))}>
      ${["", ...others].map((length) => html`<option value=${length} selected=${length === raidLength}>${wait(seconds(length || usual) * 1000)}</option>`)}
    </select>
  `;
}

// SwitchStates says which switches are on, below the head of the page. A screen reader announces
// each change, so the elements are always there. They have a line of their own even if all switches
// are off, so that the list stays in place if somebody presses one.
/** @param {{state: State}} props */
export function SwitchStates({ state }) {
  const standing = standingOf(state);
  if (!state.status?.switches) return null;
  const isUsual = !standing.pause && !standing.raid && Object.values(state.pressed).every(({ problem, unsavedAt }) => !problem && !unsavedAt);
  return html`
    <div class="switch-states ${state.feed.state === "lost" ? "stale" : ""}">
      ${isUsual && html`<p class="muted">${usualWords(state)}</p>`}
      <${SwitchState} state=${state} name="pause" standing=${standing.pause} />
      <${SwitchState} state=${state} name="raid" standing=${standing.raid} />
      <p role="status" class=${standing.modes ? "switch-state modes" : "unseen"} title=${standing.modes?.title}>
        ${standing.modes && html`<${Icon} name="message" /><span>${standing.modes.said}</span>`}
      </p>
    </div>
  `;
}

// usualWords says which limits apply while no switch is on; nothing while that isn't known, or while
// the channel isn't read. While the shared store is away or refuses changes, its note says it.
/** @param {State} of */
function usualWords({ feed, policy, status }) {
  if (feed.state === "lost") return t("now.no-data", { time: clock(feed.lastFrame) });
  if (!policy || unreadHere()) return "";
  if (policy.in_force === "observe") return t("now.observes");
  return status.shared?.up === false || status.shared?.refusing ? "" : t("now.usual");
}

/** @param {{state: State, name: SwitchName, standing: Standing}} props */
function SwitchState({ state, name, standing }) {
  const pressed = state.pressed[name] ?? unpressed;
  const { database } = state.status;
  return html`
    <p id="${name}-about" role="status" class=${standing ? `switch-state ${name}` : "unseen"} title=${standing?.title}>
      ${standing ? html`<${Icon} name=${name} /><span>${standing.said}</span>` : mayModerate() && about[name]}
    </p>
    ${isUnsaved(pressed, database) && html`<p id="${name}-unsaved" class="switch-state warn" role="status" title=${unsavedChange(database)}><span>${unsavedChange(database)}</span></p>`}
    ${pressed.problem && html`<p id="${name}-problem" class="switch-state bad" role="alert" title=${pressed.problem}><span>${pressed.problem}</span></p>`}
  `;
}
