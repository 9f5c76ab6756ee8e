// @ts-check
// The choice of a preset or of known limits: each with its rules in words. A choice fills the form;
// nothing is in force until it is saved.

import { commas, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { choosePreset, undoPreset } from "./draft-edits.js";
import { presets, samePresets } from "./presets.js";
import { Icon } from "../widgets/icon.js";
import { bytesPerUser, knownLimits } from "../words/known-limits.js";
import { capitalised, lowered } from "../words/roles.js";
import { briefOf } from "../words/rules.js";
import { isShared, sharers } from "../words/scopes.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Form } from "./form.js" */
/** @import { Filling } from "./presets.js" */

/** @param {{form: Form}} props */
export function PresetChooser({ form }) {
  const chosen = form.preset;
  return html`
    <section class="presets" id="presets" aria-labelledby="presets-title">
      <h2 class="headline" id="presets-title">${t("limits.presets-title")}</h2>
      <ul>
        ${presets().map((preset) => html`<${Choice} preset=${preset} form=${form}><span class="muted">${preset.about}</span><//>`)}
      </ul>
      <h3>${t("limits.presets-same")}</h3>
      <ul>
        ${samePresets().map((preset) => html`
          <${Choice} preset=${preset} form=${form}>
            <span class="muted">${preset.limits.map((limit) => t("shell.sentence", { what: capitalised(commas([sharers[limit.per], limit.similar && t("rules.same-similar")])) }))}</span>
            <span class="muted">${preset.about}</span>
          <//>`)}
      </ul>
      <details class="known">
        <summary>${t("limits.known")}</summary>
        <ul>
          ${knownLimits.map((known) => html`
            <${Choice} preset=${known} form=${form}>
              <span class="reason"><span class="good">${t("limits.pro")}</span> ${known.pros}</span>
              <span class="reason"><span class="warn">${t("limits.con")}</span> ${known.cons}</span>
              <span class="muted">${t("limits.bytes", { n: bytesPerUser(known) })}</span>
            <//>`)}
        </ul>
      </details>
      <p class="muted" role="status">
        ${chosen ? t(filled(chosen.preset), { preset: chosen.preset.name }) : t("limits.presets-about")}
      </p>
      ${chosen && html`<button type="button" id="undo-preset" onClick=${undoPreset}><${Icon} name="undo" />${t("limits.undo-preset")}</button>`}
    </section>
  `;
}

// filled returns the text that says what a preset has filled in.
/** @param {Filling} of @returns {TextKey} */
function filled({ adds, penalties }) {
  if (adds) return "limits.filled-added";
  return penalties ? "limits.filled-all" : "limits.filled";
}

/** @param {{preset: Filling, form: Form, children: View}} props */
function Choice({ preset, form, children }) {
  return html`
    <li>
      <button type="button" id=${`preset-${preset.id}`} class="card" aria-pressed=${preset.id === form.preset?.preset.id ? "true" : "false"} onClick=${() => choosePreset(preset)}>
        <strong>${preset.name}</strong> <span>${rulesOf(preset)}</span> ${children}
      </button>
    </li>
  `;
}

// rulesOf writes a preset's rules for each user, in brief. It leaves out limits that everyone
// shares.
/** @param {Filling} of */
function rulesOf({ limits }) {
  const rules = limits.filter((limit) => !isShared(limit)).map((limit) => briefOf(limit));
  return t("limits.preset-rules", { rules: rules.map((rule, i) => (i > 0 ? lowered(rule) : rule)).join(t("limits.preset-between")) });
}
