// @ts-check
// The dialog that switches the modes of the channel's chat. Each switch acts at once. The list of
// channels says which modes are on.

import { sentences, t, table } from "../../text/text.js";
import { html, useRef, useState } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { state } from "../core/state.js";
import { modesHere } from "./modes-button.js";
import { Dialog } from "../widgets/dialog.js";
import { authorName } from "../words/author.js";
import { unsavedChange } from "../words/unsaved.js";
import { modeNames, modeTitles, numberText, numbers } from "../words/modes.js";
/** @import { State } from "../core/state.js" */
/** @import { ModeName, Modes, ModesChange } from "../words/modes.js" */

/** @type {Record<ModeName, string>} */
const about = table({
  slow_mode: "now.mode-slow-about", follower_mode: "now.mode-followers-about", subscriber_mode: "now.mode-subscribers-about",
  emote_mode: "now.mode-emotes-about", unique_chat_mode: "now.mode-unique-about",
});

/** @type {Record<string, string>} */
const numberNames = table({ slow_mode: "now.mode-wait", follower_mode: "now.mode-follows" });

// choices are Twitch's usual numbers: seconds of slow mode, and minutes of following.
/** @type {Record<string, number[]>} */
const choices = { slow_mode: [3, 5, 10, 20, 30, 60, 120], follower_mode: [0, 10, 30, 60, 1440, 10_080, 43_200, 129_600] };

/** @type {Record<string, number>} */
const usual = { slow_mode: 30, follower_mode: 10 };

/** @param {{state: State, onClose: () => void}} props */
export function ModesDialog({ state: shown, onClose }) {
  const [busy, setBusy] = useState(/** @type {ModeName | ""} */ (""));
  const [problem, setProblem] = useState("");
  const modes = modesHere(shown), by = shown.channels.find((c) => c.id === shown.channel)?.modes_by;
  const sent = useRef(Promise.resolve());
  // send sends a change after those before it.
  /** @param {ModeName} mode @param {ModesChange} change */
  const send = (mode, change) => (sent.current = sent.current.then(async () => {
    setBusy(mode);
    setProblem("");
    try {
      const { body } = await request("PATCH", `/channels/${encodeURIComponent(shown.channel)}/modes`, { body: change });
      if (!body.saved) setProblem(unsavedChange(state.status?.database));
    } catch (refusal) {
      if (!ifSignedOut(refusal)) setProblem(refusal.message);
    }
    setBusy("");
  }));
  return html`
    <${Dialog} label=${t("now.modes")} name="modes" onClose=${onClose}>
      <p class="muted">${sentences(t("now.modes-about"), modes && by && t("now.modes-by", { who: authorName(by) }))}</p>
      ${!modes && html`<p class="warn-text" role="status">${t("now.modes-unknown-about")}</p>`}
      <div class="modes">${modeNames.map((mode) => html`<${Mode} mode=${mode} modes=${modes} busy=${busy} send=${send} />`)}</div>
      <p class="error" role="alert">${problem}</p>
    <//>
  `;
}

// Mode is a mode with a button for each state, so that no button ever has the opposite meaning.
/** @param {{mode: ModeName, modes?: Modes, busy: string, send: (mode: ModeName, change: ModesChange) => void}} props */
function Mode({ mode, modes, busy, send }) {
  const isOn = modes?.[mode], field = numbers[mode]?.field;
  const [picked, pick] = useState(usual[mode]); // while the mode is off
  const value = isOn ? modes[field] : picked;
  /** @param {boolean} on @param {number} [number] */
  const turn = (on, number = value) => on !== isOn && send(mode, on && field ? { [mode]: on, [field]: number } : { [mode]: on });
  /** @param {number} number */
  const choose = (number) => {
    pick(number);
    if (isOn) send(mode, { [mode]: true, [field]: number });
  };
  return html`
    <div class="mode" role="group" aria-label=${modeTitles[mode]} aria-busy=${busy === mode ? "true" : "false"}>
      <div class="what"><span class="name">${modeTitles[mode]}</span> <span class="muted">${about[mode]}</span></div>
      ${field && html`<${NumberChoice} mode=${mode} value=${value} choose=${choose} />`}
      <div class="tabs">
        <button type="button" id="${mode}-off" aria-pressed=${isOn === false ? "true" : "false"} onClick=${() => turn(false)}>${t("now.switch-off")}</button>
        <button type="button" id="${mode}-on" aria-pressed=${isOn ? "true" : "false"} onClick=${() => turn(true)}>${t("now.switch-on")}</button>
      </div>
    </div>
  `;
}

/** @param {{mode: ModeName, value: number, choose: (value: number) => void}} props */
function NumberChoice({ mode, value, choose }) {
  const offered = [...new Set([...choices[mode], value])].sort((a, b) => a - b);
  return html`
    <select id="${mode}-number" class="quiet" aria-label=${numberNames[mode]} value=${String(value)} onChange=${(event) => choose(Number(event.target.value))}>
      ${offered.map((one) => html`<option value=${String(one)} selected=${one === value}>${numberText(mode, one)}</option>`)}
    </select>
  `;
}
