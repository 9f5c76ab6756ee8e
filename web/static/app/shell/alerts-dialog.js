// @ts-check
// The dialog in which a person chooses alerts.

import { t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { prefer } from "../core/preferences.js";
import { tell } from "./alerts.js";
import { ask, permission } from "./signal.js";
import { Dialog } from "../widgets/dialog.js";
import { Icon } from "../widgets/icon.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Alerts, State } from "../core/state.js" */

const mostUsers = 10_000; // that an alert can wait for

/** @param {{state: State, onClose: () => void}} props */
export function AlertsDialog({ state, onClose }) {
  const { alerts } = state.preferences;
  const [problem, say] = useState("");
  const [wrongCount, sayCount] = useState("");
  /** @param {Partial<Alerts>} news */
  const choose = (news) => prefer({ alerts: { ...alerts, ...news } });
  /** @param {boolean} isOn */
  const chooseNotify = async (isOn) => {
    const may = !isOn || (await ask());
    say(may ? "" : permission() === "missing" ? t("shell.alerts-missing") : t("shell.alerts-denied"));
    choose({ notify: isOn && may });
  };
  /** @param {{target: HTMLInputElement}} event */
  const chooseCount = ({ target: { value } }) => {
    const isRight = /^[1-9]\d*$/.test(value.trim()) && Number(value) <= mostUsers;
    sayCount(isRight ? "" : t("shell.alert-wrong-count", { most: mostUsers }));
    if (isRight) choose({ count: Number(value) });
  };
  const isSilent = !alerts.sound && !alerts.notify;
  return html`
    <${Dialog} label=${t("shell.alerts")} name="alerts" onClose=${onClose}>
      <p class="muted">${t("shell.alerts-about")}</p>
      <fieldset>
        <legend>${t("shell.alerts-when")}</legend>
        <${Check} id="alert-raid" isOn=${alerts.raid} choose=${(/** @type {boolean} */ raid) => choose({ raid })}>${t("shell.alert-raid")}<//>
        <${Check} id="alert-failure" isOn=${alerts.failure} choose=${(/** @type {boolean} */ failure) => choose({ failure })}>${t("shell.alert-failure")}<//>
        <${Check} id="alert-many" isOn=${alerts.many} choose=${(/** @type {boolean} */ many) => choose({ many })}>${t("shell.alert-many")}<//>
        <div class="field">
          <label for="alert-count">${t("shell.alert-count")}</label>
          <input id="alert-count" inputmode="numeric" autocomplete="off" value=${alerts.count} disabled=${!alerts.many} aria-describedby="alert-count-error" onChange=${chooseCount} />
          <span class="unit">${t("shell.alert-count-unit")}</span>
          <p id="alert-count-error" class="error" role="alert">${alerts.many && wrongCount}</p>
        </div>
      </fieldset>
      <fieldset>
        <legend>${t("shell.alerts-how")}</legend>
        <${Check} id="alert-sound" isOn=${alerts.sound} choose=${(/** @type {boolean} */ sound) => choose({ sound })}>${t("shell.alert-sound")}<//>
        <${Check} id="alert-notify" isOn=${alerts.notify} choose=${chooseNotify}>${t("shell.alert-notify")}<//>
        <p class="error" role="alert">${problem}</p>
      </fieldset>
      <div class="buttons">
        <button type="button" id="alert-test" disabled=${isSilent} onClick=${() => tell(t("shell.alert-test-text"), alerts)}><${Icon} name="bell" />${t("shell.alert-test")}</button>
        ${isSilent && html`<span class="muted">${t("shell.alerts-silent")}</span>`}
      </div>
    <//>
  `;
}

/** @param {{id: string, isOn: boolean, choose: (isOn: boolean) => void, children?: View}} props */
function Check({ id, isOn, choose, children }) {
  /** @param {{target: HTMLInputElement}} event */
  const change = (event) => choose(event.target.checked);
  return html`<label class="choice" for=${id}><input id=${id} type="checkbox" checked=${isOn} onChange=${change} /><span>${children}</span></label>`;
}
