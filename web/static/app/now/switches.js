// @ts-check
// The channel's switches, pause and raid mode. The list of channels says which switches are on.

import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { mayModerate, now, state, update } from "../core/state.js";
import { clock } from "../words/time.js";
import { unsavedChange } from "../words/unsaved.js";
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

// turn turns a switch "on" or "off".
/** @param {SwitchName} name @param {"on" | "off"} to */
async function turn(name, to) {
  if (state.pressed[name]?.busy) return;
  const pressed = { ...unpressed, busy: true };
  set(name, pressed);
  /** @param {Partial<Pressed>} news */
  const answered = (news) => state.pressed[name] === pressed && set(name, { ...pressed, busy: false, ...news }); // otherwise another channel is shown
  const [method, path] = requests[name][to];
  try {
    const { body } = await request(method, `/channels/${encodeURIComponent(state.channel)}/${path}`);
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

/** @param {{state: State}} props */
export function ChannelSwitches({ state }) {
  const { channels, channel, status, feed } = state;
  const { paused_by: pausedBy, raid_until: raidUntil } = channels.find((c) => c.id === channel) ?? {};
  if (!status?.switches) return null;
  const Place = mayModerate() ? Switch : Standing;
  return html`
    <div class="switches ${feed.state === "lost" ? "stale" : ""}" role="group" aria-label="Switches">
      <${Place} state=${state} name="pause" on="Pause" off="Resume" about="stops throttling until you resume" idle="Not paused."
        standing=${pausedBy && html`Paused by <bdi>${pausedBy}</bdi>: nobody is throttled.`} />
      <${Place} state=${state} name="raid" on="Start raid mode" off="End raid mode" about="stricter limits for a while, strictest for first-timers" idle="Raid mode is off."
        standing=${raidUntil && `Raid mode until ${clock(Date.parse(raidUntil))}: stricter limits.`} />
    </div>
  `;
}

// Standing shows whether a switch is on, without a button; idle is its text while it is off.
/** @param {{standing?: Value, idle: string}} props */
function Standing({ standing, idle }) {
  return html`<p class="switch" role="status">${standing ? html`<span class="state notice">${standing}</span>` : html`<span class="muted">${idle}</span>`}</p>`;
}

// Switch is a single button, so that it keeps the focus when pressed. on and off are its labels,
// about describes the effect of on, and standing says what is in force while the switch is on.
/**
 * @param {{state: State, name: SwitchName, on: string, off: string, about: string, standing?: Value}} props
 */
function Switch({ state, name, on, off, about, standing }) {
  const pressed = state.pressed[name] ?? unpressed;
  const { database } = state.status;
  /** @param {MouseEvent} event */
  const press = (event) => event.detail < 2 && turn(name, standing ? "off" : "on"); // the second click of a double click would undo the first
  return html`
    <div class="switch">
      <button type="button" id=${name} aria-disabled=${pressed.busy ? "true" : "false"} aria-describedby="${name}-about" onClick=${press}>
        ${standing ? off : on}
      </button>
      <div>
        <p id="${name}-about" role="status">
          ${standing ? html`<span class="state notice">${standing}</span>` : html`<span class="muted">${about}</span>`}
        </p>
        ${isUnsaved(pressed, database) && html`<p class="warn" role="status">${unsavedChange(database)}</p>`}
        ${pressed.problem && html`<p class="error" role="alert">${pressed.problem}</p>`}
      </div>
    </div>
  `;
}
