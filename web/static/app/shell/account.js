// @ts-check
// The signed-in user, and the menu with the page's settings.

import { html } from "../../vendor/htm-preact.js";
import { openDialog } from "../core/dialog.js";
import { prefer } from "../core/preferences.js";
import { signOut } from "../core/session.js";
import { shownName } from "../core/state.js";
import { commandKey } from "./keys.js";
import { Icon } from "../widgets/icon.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { DialogName } from "../core/dialog.js" */
/** @import { State } from "../core/state.js" */

/** @type {Record<string, string>} */
const accesses = { view: "view only", moderate: "moderator", own: "owner" };

/** @param {{state: State}} props */
export function Account({ state: { me, preferences } }) {
  const { access, mounted } = me;
  const name = shownName(me.name) || "no name";
  const role = accesses[access] ?? access;
  return html`
    <button type="button" class="account" popovertarget="account" title="Settings">
      <span class="me"><bdi>${name}</bdi>${role !== name && html`<span class="muted"> · ${role}</span>`}</span>
      <span class="unseen">: settings</span>
      <${Icon} name="menu" />
    </button>
    <div id="account" class="menu" popover="auto">
      <p class="whose"><bdi>${name}</bdi>${role !== name && html` <span class="muted">${role}</span>`}</p>
      <${Setting} label="Theme" name="theme" chosen=${preferences.theme} choices=${themes} />
      <${Setting} label="Density" name="density" chosen=${preferences.density} choices=${densities} />
      <hr />
      <${Opener} name="palette" icon="search" keys=${[commandKey, "K"]}>Command palette<//>
      <${Opener} name="keys" icon="keyboard" keys=${["?"]}>Keyboard shortcuts<//>
      <${Opener} name="alerts" icon="bell">Alerts<//>
      ${!mounted && html`<hr /><button type="button" id="sign-out" popovertarget="account" popovertargetaction="hide" onClick=${signOut}><${Icon} name="sign-out" />Sign out</button>`}
    </div>
  `;
}

// Opener closes the menu, which returns the focus, then opens a dialog.
/** @param {{name: DialogName, icon: string, keys?: string[], children?: View}} props */
function Opener({ name, icon, keys = [], children }) {
  return html`
    <button type="button" id=${`open-${name}`} popovertarget="account" popovertargetaction="hide" onClick=${() => openDialog(name)}>
      <${Icon} name=${icon} />${children}<span class="keys" aria-hidden="true">${keys.map((key) => html`<kbd>${key}</kbd>`)}</span>
    </button>
  `;
}

const themes = { system: { text: "System", icon: "monitor" }, light: { text: "Light", icon: "sun" }, dark: { text: "Dark", icon: "moon" } };
const densities = { comfortable: { text: "Comfortable" }, compact: { text: "Compact" } };

/**
 * @param {{label: string, name: string, chosen: string, choices: Record<string, {text: string, icon?: string}>}} props
 */
function Setting({ label, name, chosen, choices }) {
  return html`
    <div class="setting" role="group" aria-label=${label}>
      <span class="muted" aria-hidden="true">${label}</span>
      <div class="tabs">
        ${Object.entries(choices).map(([choice, { text, icon }]) => html`
          <button type="button" id=${`${name}-${choice}`} aria-pressed=${choice === chosen ? "true" : "false"} onClick=${() => prefer({ [name]: choice })}>
            ${icon && html`<${Icon} name=${icon} />`}${text}
          </button>
        `)}
      </div>
    </div>
  `;
}
