// The switches of the channel shown: how they stand, and for who may turn them, the buttons that do.

import { html } from "../vendor/htm-preact.js";
import { mayModerate } from "./state.js";
import { isUnsaved, turn } from "./switches.js";
import { clock } from "./time.js";

export function ChannelSwitches({ state }) {
  const { channels, channel, status, feed } = state;
  const { paused_by: pausedBy, raid_until: raidUntil } = channels.find((c) => c.id === channel) ?? {};
  if (!status?.switches) return null;
  const Place = mayModerate() ? Switch : Standing;
  return html`
    <div class="switches ${feed.state === "lost" ? "stale" : ""}" role="group" aria-label="Switches">
      <${Place} state=${state} name="pause" on="Pause" off="Resume" about="lets everyone write until it is resumed" idle="Not paused."
        standing=${pausedBy && html`Paused by <bdi>${pausedBy}</bdi>: nobody is held back.`} />
      <${Place} state=${state} name="raid" on="Raid mode on" off="Raid mode off" about="makes the limits stricter for a while, most for first-timers" idle="Raid mode is off."
        standing=${raidUntil && `Raid mode until ${clock(Date.parse(raidUntil))}: stricter limits.`} />
    </div>
  `;
}

// Standing only says how a switch stands; idle is what it says while it is off.
function Standing({ standing, idle }) {
  return html`<p class="switch" role="status">${standing ? html`<span class="state notice">${standing}</span>` : html`<span class="muted">${idle}</span>`}</p>`;
}

// Switch is one button, so that it keeps the focus when it is pressed. on and off are what pressing it does, about says more of the first, and
// standing is how things are while it is on; nothing while it is off.
function Switch({ state, name, on, off, about, standing }) {
  const { [name]: pressed = {} } = state.turned;
  const { database } = state.status;
  const press = (event) => event.detail < 2 && turn(name, standing ? "off" : "on"); // the second half of a double click would undo the first
  return html`
    <div class="switch">
      <button type="button" id=${name} aria-disabled=${pressed.busy ? "true" : "false"} aria-describedby="${name}-about" onClick=${press}>
        ${standing ? off : on}
      </button>
      <div>
        <p id="${name}-about" role="status">
          ${standing ? html`<span class="state notice">${standing}</span>` : html`<span class="muted">${about}</span>`}
        </p>
        ${isUnsaved(pressed, database) && html`<p class="warn" role="status">${unsavedText(database)}</p>`}
        ${pressed.problem && html`<p class="error" role="alert">${pressed.problem}</p>`}
      </div>
    </div>
  `;
}

// unsavedText says what becomes of a change that isn't kept.
export function unsavedText(database) {
  if (database?.state === "off") return "That holds until chatguard stops: nothing is kept.";
  return "That holds, but isn’t saved yet: a restart now would undo it.";
}
