// @ts-check
// The dialog in which a person chooses alerts.

import { html, useState } from "../../vendor/htm-preact.js";
import { prefer } from "../core/preferences.js";
import { tell } from "./alerts.js";
import { ask, permission } from "./signal.js";
import { Dialog } from "../widgets/dialog.js";
import { Icon } from "../widgets/icon.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Alerts, State } from "../core/state.js" */

const refused = {
  denied: "Your browser blocks notifications of this page. Allow them in the browser’s settings for this site.",
  missing: "This browser has no desktop notifications.",
};

/** @param {{state: State, onClose: () => void}} props */
export function AlertsDialog({ state, onClose }) {
  const { alerts } = state.preferences;
  const [problem, say] = useState("");
  /** @param {Partial<Alerts>} news */
  const choose = (news) => prefer({ alerts: { ...alerts, ...news } });
  /** @param {boolean} isOn */
  const chooseNotify = async (isOn) => {
    const may = !isOn || (await ask());
    say(may ? "" : refused[permission() === "missing" ? "missing" : "denied"]);
    choose({ notify: isOn && may });
  };
  const isSilent = !alerts.sound && !alerts.notify;
  return html`
    <${Dialog} label="Alerts" name="alerts" onClose=${onClose}>
      <p class="muted">Alerts reach you while you look at another tab or window. They apply to this browser.</p>
      <fieldset>
        <legend>Tell me when</legend>
        <${Check} id="alert-raid" isOn=${alerts.raid} choose=${(/** @type {boolean} */ raid) => choose({ raid })}>raid mode starts<//>
        <${Check} id="alert-failure" isOn=${alerts.failure} choose=${(/** @type {boolean} */ failure) => choose({ failure })}>something fails<//>
        <${Check} id="alert-many" isOn=${alerts.many} choose=${(/** @type {boolean} */ many) => choose({ many })}>many users are throttled at once<//>
        <div class="field">
          <label for="alert-count">How many</label>
          <input id="alert-count" type="number" min="1" max="10000" required value=${alerts.count} disabled=${!alerts.many} onChange=${(event) => chooseCount(event.target, choose)} />
          <span class="unit">users or more</span>
        </div>
      </fieldset>
      <fieldset>
        <legend>How</legend>
        <${Check} id="alert-sound" isOn=${alerts.sound} choose=${(/** @type {boolean} */ sound) => choose({ sound })}>Play a sound<//>
        <${Check} id="alert-notify" isOn=${alerts.notify} choose=${chooseNotify}>Show a desktop notification<//>
        <p class="error" role="alert">${problem}</p>
      </fieldset>
      <div class="buttons">
        <button type="button" id="alert-test" disabled=${isSilent} onClick=${() => tell("This is a test.", alerts)}><${Icon} name="bell" />Test</button>
        ${isSilent && html`<span class="muted">Choose a sound or a notification to get alerts.</span>`}
      </div>
    <//>
  `;
}

// chooseCount keeps a valid number and leaves any other to the browser's own message.
/** @param {HTMLInputElement} field @param {(news: Partial<Alerts>) => void} choose */
function chooseCount(field, choose) {
  if (field.reportValidity()) choose({ count: field.valueAsNumber });
}

/** @param {{id: string, isOn: boolean, choose: (isOn: boolean) => void, children?: View}} props */
function Check({ id, isOn, choose, children }) {
  /** @param {{target: HTMLInputElement}} event */
  const change = (event) => choose(event.target.checked);
  return html`<label class="choice" for=${id}><input id=${id} type="checkbox" checked=${isOn} onChange=${change} /><span>${children}</span></label>`;
}
