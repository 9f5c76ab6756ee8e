// @ts-check
// The signed-in user, and the menu with the page's settings.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { openDialog } from "../core/dialog.js";
import { prefer } from "../core/preferences.js";
import { signOut } from "../core/session.js";
import { shownName } from "../core/state.js";
import { commandKey } from "./keys.js";
import { Icon } from "../widgets/icon.js";
import { accessName } from "../words/access.js";
import { LanguageChoice } from "../widgets/language-choice.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { DialogName } from "../core/dialog.js" */
/** @import { State } from "../core/state.js" */

/** @param {{state: State}} props */
export function Account({ state: { me, preferences } }) {
  const { access, mounted } = me;
  const name = shownName(me.name) || t("shell.no-name");
  const role = accessName(access);
  return html`
    <button type="button" class="account" popovertarget="account" title=${t("shell.settings")}>
      <span class="me"><bdi>${name}</bdi>${role !== name && html`<span class="muted"> · ${role}</span>`}</span>
      <span class="unseen">${t("shell.settings-of")}</span>
      <${Icon} name="menu" />
    </button>
    <div id="account" class="menu" popover="auto">
      <p class="whose"><bdi>${name}</bdi>${role !== name && html` <span class="muted">${role}</span>`}</p>
      <${Setting} label=${t("shell.theme")} name="theme" chosen=${preferences.theme} choices=${themes()} />
      <${Setting} label=${t("shell.density")} name="density" chosen=${preferences.density} choices=${densities()} />
      <label class="setting"><span class="muted">${t("shell.language")}</span><${LanguageChoice} /></label>
      <hr />
      <${Opener} name="palette" icon="search" keys=${[commandKey(), "K"]}>${t("shell.palette")}<//>
      <${Opener} name="keys" icon="keyboard" keys=${["?"]}>${t("shell.keys")}<//>
      <${Opener} name="alerts" icon="bell">${t("shell.alerts")}<//>
      ${!mounted && html`<hr /><button type="button" id="sign-out" popovertarget="account" popovertargetaction="hide" onClick=${signOut}><${Icon} name="sign-out" />${t("shell.sign-out")}</button>`}
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

const themes = () => ({
  system: { text: t("shell.theme-system"), icon: "monitor" }, light: { text: t("shell.theme-light"), icon: "sun" }, dark: { text: t("shell.theme-dark"), icon: "moon" },
});
const densities = () => ({ comfortable: { text: t("shell.density-comfortable") }, compact: { text: t("shell.density-compact") } });

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
