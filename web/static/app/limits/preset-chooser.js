// @ts-check
// The choice of a preset: each with its rules in words. A preset fills the form; nothing is in
// force until it is saved.

import { html } from "../../vendor/htm-preact.js";
import { choosePreset, undoPreset } from "./draft-edits.js";
import { presets } from "./presets.js";
import { ruleOf } from "./rule.js";
import { Icon } from "../widgets/icon.js";
import { lowered } from "../words/roles.js";
/** @import { Form } from "./form.js" */
/** @import { Preset } from "./presets.js" */

/** @param {{form: Form}} props */
export function PresetChooser({ form }) {
  const chosen = form.preset;
  return html`
    <section class="presets" id="presets" aria-labelledby="presets-title">
      <h2 class="headline" id="presets-title">Presets</h2>
      <ul>
        ${presets.map((preset) => html`
          <li>
            <button type="button" id=${`preset-${preset.id}`} class="card" aria-pressed=${preset === chosen?.preset ? "true" : "false"} onClick=${() => choosePreset(preset)}>
              <strong>${preset.name}</strong> <span>${rulesOf(preset)}</span> <span class="muted">${preset.about}</span>
            </button>
          </li>`)}
      </ul>
      <p class="muted" role="status">
        ${chosen
          ? `${chosen.preset.name} has filled the limits and penalties. Nothing changes until you save.`
          : "A preset fills the limits and penalties. Time zone, exempt roles and limits across all channels stay as they are."}
      </p>
      ${chosen && html`<button type="button" id="undo-preset" onClick=${undoPreset}><${Icon} name="undo" />Undo preset</button>`}
    </section>
  `;
}

// rulesOf writes the rules of a preset for everyone. Its daily limit ends in the channel's time
// zone.
/** @param {Preset} of */
function rulesOf({ limits }) {
  const rules = limits.filter(({ per }) => per !== "channel").map((limit) => ruleOf(limit, "").replace(/, until .*/, ""));
  return rules.map((rule, i) => (i > 0 ? lowered(rule) : rule)).join("; ") + ".";
}
