// @ts-check
// The controls: time, sending, and traffic.

import { html } from "../vendor/htm-preact.js";
import { Icon } from "../app/widgets/icon.js";
import { speeds } from "./clock.js";
import { reset, resume, setSpeed, setTraffic, step, toggle } from "./player.js";
import { Sender } from "./sender.js";
import { draw } from "./stage.js";
import { change, lab } from "./state.js";
import { choicesOf, chosenOf, errorOf, kinds, usual, withField } from "./traffic.js";
/** @import { More, Setup } from "./state.js" */
/** @import { Choice, TrafficField } from "./traffic.js" */

/** @param {{lab: Setup & More}} props */
export function Controls({ lab }) {
  return html`
    <section class="controls" aria-label="Controls">
      <${Time} lab=${lab} />
      <${TrafficChoice} lab=${lab} />
    </section>
  `;
}

/** @type {[name: string, ms: number][]} */
const spans = [["auto", 0], ["30 s", 30_000], ["1 min", 60_000], ["2 min", 120_000], ["5 min", 300_000], ["30 min", 1_800_000], ["2 h", 7_200_000], ["1 day", 86_400_000]];

/** @param {{lab: Setup & More}} props */
function Time({ lab }) {
  const { isPlaying, speed, span } = lab;
  const shown = spans.some(([, ms]) => ms === span) ? spans : [...spans, /** @type {[string, number]} */ ([`${span / 1000} s`, span])];
  return html`
    <div class="control-row">
      <div class="together">
        <button type="button" id="play" onClick=${toggle}><${Icon} name=${isPlaying ? "pause" : "play"} />${isPlaying ? "Pause" : "Play"}</button>
        <div class="tabs" role="group" aria-label="Speed">
          ${speeds.map((times) => html`<button type="button" key=${times} id=${`speed-${times}`} aria-pressed=${times === speed ? "true" : "false"} onClick=${() => setSpeed(times)}>${times}×</button>`)}
        </div>
        <button type="button" class="quiet" id="step" title="Pause at the next message" onClick=${step}><${Icon} name="step" />Step</button>
        <button type="button" class="quiet" id="reset" title="Start the scene again" onClick=${reset}><${Icon} name="reset" />Reset</button>
      </div>
      <p class="lab-time"><span class="muted">Lab time</span> <strong id="lab-time">00:00:00.0</strong></p>
      <label class="span"><span class="muted">Show</span>
        <select id="span" onChange=${(event) => showSpan(Number(event.target.value))}>${shown.map(([name, ms]) => html`<option value=${ms} selected=${ms === span}>${name}</option>`)}</select>
      </label>
      <${Sender} isPrimary=${true} keys="Space">Send to all<//>
    </div>
  `;
}

/** @param {number} ms */
function showSpan(ms) {
  change((l) => (l.span = ms));
  draw();
}

/** @param {{lab: Setup & More}} props */
function TrafficChoice({ lab: { traffic, isHeld, isFull, isEmpty, channels } }) {
  const offered = Object.entries(kinds).filter(([kind, { isRecorded }]) => !isRecorded || channels.length > 0 || kind === traffic.kind);
  return html`
    <div class="control-row traffic">
      <span class="muted" id="traffic-title">Traffic</span>
      <div class="tabs" role="group" aria-labelledby="traffic-title">
        ${offered.map(([kind, { name }]) => html`<button type="button" key=${kind} id=${`traffic-${kind}`} aria-pressed=${kind === traffic.kind ? "true" : "false"} onClick=${() => setTraffic(usual(kind, channels))}>${name}</button>`)}
      </div>
      ${Object.entries(kinds[traffic.kind].fields).map(([name, field]) => html`<${TrafficInput} key=${`${traffic.kind} ${name}`} name=${name} field=${field} value=${chosenOf(name, traffic)} choices=${choicesOf(name, traffic, channels)} />`)}
      <p class="traffic-state" role="status">
        ${isHeld ? html`Automatic traffic has paused for your message. <button type="button" class="link" id="resume" onClick=${resume}>Resume</button> <kbd>Enter</kbd>`
          : isEmpty ? (traffic.user_id ? "This user has no recorded messages there." : "There are no recorded messages.")
          : isFull ? html`The Lab judges at most 20,000 messages at once. <button type="button" class="link" onClick=${reset}>Reset to go on</button>`
          : ""}
      </p>
    </div>
  `;
}

/** @param {{name: string, field: TrafficField, value: string, choices: Choice[] | null}} props */
function TrafficInput({ name, field, value, choices }) {
  const id = `traffic-${name}`, error = errorOf(field, value);
  const set = (/** @type {Event & {target: HTMLInputElement | HTMLSelectElement}} */ event) => setTraffic(withField(lab.traffic, name, event.target.value));
  return html`
    <label class="traffic-field" for=${id}>
      ${field.label && html`<span class="muted">${field.label}</span>`}
      ${choices
        ? html`<select id=${id} aria-label=${field.spoken ?? null} onChange=${set}>${choices.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}</select>`
        : html`<input id=${id} value=${value} autocomplete="off" aria-label=${field.spoken ?? null} placeholder=${field.hint ?? null} aria-invalid=${error ? "true" : "false"} title=${error || null} onInput=${set} />`}
      ${field.unit && html`<span class="muted">${field.unit}</span>`}
    </label>
  `;
}
