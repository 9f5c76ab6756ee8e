// @ts-check
// The choice of a preset or of known limits: each with its rules in words. A choice fills the form;
// nothing is in force until it is saved.

import { html } from "../../vendor/htm-preact.js";
import { choosePreset, undoPreset } from "./draft-edits.js";
import { presets } from "./presets.js";
import { ruleOf } from "./rule.js";
import { Icon } from "../widgets/icon.js";
import { amount } from "../words/algorithms.js";
import { bytesPerUser, knownLimits } from "../words/known-limits.js";
import { lowered } from "../words/roles.js";
import { isShared } from "../words/scopes.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Form } from "./form.js" */
/** @import { Filling } from "./presets.js" */

/** @param {{form: Form}} props */
export function PresetChooser({ form }) {
  const chosen = form.preset;
  return html`
    <section class="presets" id="presets" aria-labelledby="presets-title">
      <h2 class="headline" id="presets-title">Presets</h2>
      <ul>
        ${presets.map((preset) => html`<${Choice} preset=${preset} form=${form}><span class="muted">${preset.about}</span><//>`)}
      </ul>
      <details class="known">
        <summary>Start from a known limit</summary>
        <ul>
          ${knownLimits.map((known) => html`
            <${Choice} preset=${known} form=${form}>
              <span class="reason"><span class="good">Pro</span> ${known.pros}</span>
              <span class="reason"><span class="warn">Con</span> ${known.cons}</span>
              <span class="muted">${amount(bytesPerUser(known))} bytes of state per user</span>
            <//>`)}
        </ul>
      </details>
      <p class="muted" role="status">
        ${chosen
          ? `${chosen.preset.name} has filled the limits${chosen.preset.penalties ? " and penalties" : ""}. Nothing changes until you save.`
          : "A preset fills the limits and penalties, a known limit only the limits. Time zone, exempt roles and limits across all channels stay as they are."}
      </p>
      ${chosen && html`<button type="button" id="undo-preset" onClick=${undoPreset}><${Icon} name="undo" />Undo preset</button>`}
    </section>
  `;
}

/** @param {{preset: Filling, form: Form, children: View}} props */
function Choice({ preset, form, children }) {
  return html`
    <li>
      <button type="button" id=${`preset-${preset.id}`} class="card" aria-pressed=${preset === form.preset?.preset ? "true" : "false"} onClick=${() => choosePreset(preset)}>
        <strong>${preset.name}</strong> <span>${rulesOf(preset)}</span> ${children}
      </button>
    </li>
  `;
}

// rulesOf writes the rules of a preset for everyone, without what follows a comma about windows: a
// daily limit ends in the channel's time zone.
/** @param {Filling} of */
function rulesOf({ limits }) {
  const rules = limits.filter((limit) => !isShared(limit)).map((limit) => ruleOf(limit, "").replace(/, (until|from the first) .*/, ""));
  return rules.map((rule, i) => (i > 0 ? lowered(rule) : rule)).join("; ") + ".";
}
