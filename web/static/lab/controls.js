// @ts-check
// The controls: time, sending, and traffic.

import { rich, t } from "../text/text.js";
import { html, useState } from "../vendor/htm-preact.js";
import { Icon } from "../app/widgets/icon.js";
import { roundText, speeds } from "./clock.js";
import { mostMessages } from "./engine.js";
import { reset, resume, setSpeed, setTraffic, step, toggle } from "./player.js";
import { Sender } from "./sender.js";
import { draw } from "./stage.js";
import { change, lab } from "./state.js";
import { choicesOf, chosenOf, errorOf, kinds, usual, withField } from "./traffic.js";
/** @import { Value } from "../vendor/htm-preact.js" */
/** @import { More, Setup } from "./state.js" */
/** @import { Choice, TrafficField } from "./traffic.js" */

/** @param {{lab: Setup & More}} props */
export function Controls({ lab }) {
  const [isFolded, fold] = useState(true); // on a phone, where the controls are below the lanes
  return html`
    <section class=${isFolded ? "controls is-folded" : "controls"} id="controls" aria-label=${t("lab.controls")}>
      <${Time} lab=${lab} isFolded=${isFolded} fold=${fold} />
      <${TrafficChoice} lab=${lab} />
    </section>
  `;
}

const spans = [0, 30_000, 60_000, 120_000, 300_000, 1_800_000, 7_200_000, 86_400_000]; // ms; 0 depends on the speed

/** @param {{lab: Setup & More, isFolded: boolean, fold: (is: boolean) => void}} props */
function Time({ lab, isFolded, fold }) {
  const { isPlaying, speed, span } = lab;
  const shown = spans.includes(span) ? spans : [...spans, span];
  return html`
    <div class="control-row">
      <div class="together">
        <button type="button" id="play" onClick=${toggle}><${Icon} name=${isPlaying ? "pause" : "play"} />${isPlaying ? t("lab.pause") : t("lab.play")}</button>
        <div class="tabs foldable" role="group" aria-label=${t("lab.speed")}>
          ${speeds.map((times) => html`<button type="button" key=${times} id=${`speed-${times}`} aria-pressed=${times === speed ? "true" : "false"} onClick=${() => setSpeed(times)}>${times}×</button>`)}
        </div>
        <button type="button" class="quiet" id="step" title=${t("lab.step-about")} onClick=${step}><${Icon} name="step" />${t("lab.step")}</button>
        <button type="button" class="quiet foldable" id="reset" title=${t("lab.reset-about")} onClick=${reset}><${Icon} name="reset" />${t("lab.reset")}</button>
        <button type="button" class="quiet more" id="more" aria-expanded=${isFolded ? "false" : "true"} aria-controls="controls" onClick=${() => fold(!isFolded)}><${Icon} name="sliders" />${t("lab.more-controls")}</button>
      </div>
      <p class="lab-time"><span class="muted">${t("lab.time")}</span> <strong id="lab-time">00:00:00.0</strong></p>
      <label class="span foldable"><span class="muted">${t("lab.span")}</span>
        <select id="span" onChange=${(event) => showSpan(Number(event.target.value))}>${shown.map((ms) => html`<option value=${ms} selected=${ms === span}>${ms === 0 ? t("lab.span-auto") : roundText(ms)}</option>`)}</select>
      </label>
      <${Sender} isPrimary=${true} keys=${t("lab.key-space")}>${t("lab.send-to-all")}<//>
    </div>
  `;
}

/** @param {number} ms */
function showSpan(ms) {
  change((l) => (l.span = ms));
  draw();
}

/** @param {{lab: Setup & More}} props */
function TrafficChoice({ lab: { traffic, isHeld, isFull, isEmpty, withoutText, channels } }) {
  const offered = Object.entries(kinds).filter(([kind, { isRecorded }]) => !isRecorded || channels.length > 0 || kind === traffic.kind);
  return html`
    <div class="control-row traffic">
      <span class="muted foldable" id="traffic-title">${t("lab.traffic")}</span>
      <div class="tabs foldable" role="group" aria-labelledby="traffic-title">
        ${offered.map(([kind, { name }]) => html`<button type="button" key=${kind} id=${`traffic-${kind}`} aria-pressed=${kind === traffic.kind ? "true" : "false"} onClick=${() => setTraffic(usual(kind, channels))}>${t(name)}</button>`)}
      </div>
      ${Object.entries(kinds[traffic.kind].fields).map(([name, field]) => html`<${TrafficInput} key=${`${traffic.kind} ${name}`} name=${name} field=${field} value=${chosenOf(name, traffic)} choices=${choicesOf(name, traffic, channels)} />`)}
      <p class="traffic-state" role="status">
        ${isHeld ? html`${t("lab.held")} <button type="button" class="link" id="resume" onClick=${resume}>${t("lab.resume")}</button> <kbd>${t("lab.key-enter")}</kbd>`
          : isEmpty ? t(traffic.user_id ? "lab.no-messages-of-user" : "lab.no-messages-recorded")
          : withoutText > 0 ? t("rules.without-text", { n: withoutText })
          : isFull ? html`${t("lab.full", { most: mostMessages })} <button type="button" class="link" onClick=${reset}>${t("lab.reset-to-go-on")}</button>`
          : ""}
      </p>
    </div>
  `;
}

/** @param {{name: string, field: TrafficField, value: string, choices: Choice[] | null}} props */
function TrafficInput({ name, field, value, choices }) {
  const id = `traffic-${name}`, error = errorOf(field, value);
  const set = (/** @type {Event & {target: HTMLInputElement | HTMLSelectElement}} */ event) => setTraffic(withField(lab.traffic, name, event.target.value));
  const spoken = field.spoken ? t(field.spoken) : null, hint = field.hint ? t(field.hint) : null;
  const input = choices
    ? html`<select id=${id} aria-label=${spoken} onChange=${set}>${choices.map(([key, text]) => html`<option key=${key} value=${key} selected=${key === value}>${text}</option>`)}</select>`
    : html`<input id=${id} value=${value} autocomplete="off" aria-label=${spoken} placeholder=${hint} aria-invalid=${error ? "true" : "false"} title=${error || null} onInput=${set} />`;
  return html`<label class="traffic-field foldable" for=${id}>${field.phrase ? rich(field.phrase, { field: input }).map(muted) : input}</label>`;
}

// muted shows the words of a phrase in a quieter colour than its field.
/** @param {Value} piece */
const muted = (piece) => (typeof piece === "string" && piece.trim() !== "" ? html`<span class="muted">${piece.trim()}</span>` : piece);
