// @ts-check
// Signing in with Twitch by a code to enter there, while the dashboard is on this machine only.

import { t } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { now, update } from "../core/state.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";
import { wait } from "../words/time.js";

/**
 * DeviceSignIn is a sign-in by code that is open.
 * @typedef {object} DeviceSignIn
 * @property {Api.getSessionDevice | null} code null until Twitch has given one
 * @property {string} problem why the sign-in has failed
 */

let timer = 0;

// begin gets a code, and asks about it until the person has entered it.
/** @param {() => void} onSignedIn */
async function begin(onSignedIn) {
  update((s) => (s.device = { code: null, problem: "" }));
  ask("POST", onSignedIn);
}

/** @param {"GET" | "POST"} method @param {() => void} onSignedIn */
async function ask(method, onSignedIn) {
  clearTimeout(timer);
  try {
    const { body } = await request(method, "/session/device");
    if (body.state === "done") {
      update((s) => (s.device = null));
      return onSignedIn();
    }
    update((s) => s.device && (s.device = { code: body, problem: "" }));
    timer = setTimeout(() => ask("GET", onSignedIn), 1000 * body.interval);
  } catch (problem) {
    update((s) => s.device && (s.device = { ...s.device, problem: problem.message }));
  }
}

function close() {
  clearTimeout(timer);
  update((s) => {
    s.device = null;
    s.focus = "with-twitch";
  });
}

/** @param {{device: DeviceSignIn, onSignedIn: () => void}} props */
export function Device({ device: { code, problem }, onSignedIn }) {
  useEffect(() => {
    begin(onSignedIn);
    return () => clearTimeout(timer);
  }, []);
  return html`
    <div class="with-twitch">
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : code ? html`<${Code} code=${code} />` : html`<p class="muted" role="status">${t("device.asking")}</p>`}
      <div class="buttons">
        ${problem && html`<button type="button" class="primary" onClick=${() => begin(onSignedIn)}>${t("device.again")}</button>`}
        <button type="button" onClick=${close}>${t("device.cancel")}</button>
      </div>
    </div>
  `;
}

/** @param {{code: NonNullable<DeviceSignIn["code"]>}} props */
function Code({ code }) {
  const left = Math.max(0, Date.parse(code.expires ?? "") - now());
  return html`
    <p role="status">${t("device.how")}</p>
    <p class="user-code"><code>${code.user_code}</code><${Copy} text=${code.user_code} label=${t("device.copy-code")} /></p>
    <p><a class="button primary" id="open-twitch" href=${code.address} target="_blank" rel="noreferrer">${t("device.open")}<${Icon} name="external-link" /></a></p>
    <p class="muted">${t("device.waiting", { time: wait(left) })}</p>
  `;
}
