// @ts-check
// The choice of a preset or of known limits: each with its rules in words. A choice fills the form;
// nothing is in force until it is saved.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { choosePreset, isChosen, undoPreset } from "./draft-edits.js";
import { presenceOf, presets, samePresets } from "./presets.js";
import { Icon } from "../widgets/icon.js";
import { bytesPerUser, knownLimits } from "../words/known-limits.js";
import { lowered } from "../words/roles.js";
import { briefOf } from "../words/rules.js";
import { isShared } from "../words/scopes.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Form } from "./form.js" */
/** @import { Filling, Presence } from "./presets.js" */

/** @param {{form: Form}} props */
export function PresetChooser({ form }) {
  const last = form.presets.at(-1);
  return html`
    <section class="presets" id="presets" aria-labelledby="presets-title">
      <h2 class="headline" id="presets-title">${t("limits.presets-title")}</h2>
      <p class="muted">${t("limits.presets-about")}</p>
      <ul>
        ${presets().map((preset) => html`<${Choice} preset=${preset} form=${form}><span class="muted">${preset.about}</span><//>`)}
      </ul>
      <h3>${t("limits.presets-same")}</h3>
      <p class="muted">${t("limits.presets-same-about")}</p>
      <ul>
        ${samePresets().map((preset) => html`<${Choice} preset=${preset} form=${form}><span class="muted">${preset.about}</span><//>`)}
      </ul>
      <details class="known">
        <summary>${t("limits.known")}</summary>
        <p class="muted">${t("limits.known-about")}</p>
        <ul>
          ${knownLimits.map((known) => html`
            <${Choice} preset=${known} form=${form}>
              <span class="reason"><span class="good">${t("limits.pro")}</span> ${known.pros}</span>
              <span class="reason"><span class="warn">${t("limits.con")}</span> ${known.cons}</span>
              <span class="muted">${t("limits.bytes", { n: bytesPerUser(known) })}</span>
            <//>`)}
        </ul>
      </details>
      <p class="muted" role="status">${last && t(filled(last), { preset: last.preset.name })}</p>
      ${last && html`<button type="button" id="undo-preset" onClick=${undoPreset}><${Icon} name="undo" />${t("limits.undo-preset")}</button>`}
    </section>
  `;
}

// added says what a preset that adds a limit has done, by whether the draft before had that.
/** @type {Record<Presence, TextKey>} */
const added = { absent: "limits.filled-added", changed: "limits.filled-again", present: "limits.filled-removed" };

// filled returns the text that says what a preset has done to the draft before it.
/** @param {Form["presets"][number]} of @returns {TextKey} */
function filled({ preset, former }) {
  if (preset.adds) return added[presenceOf(former, preset)];
  return preset.penalties ? "limits.filled-all" : "limits.filled";
}

/** @param {{preset: Filling, form: Form, children: View}} props */
function Choice({ preset, form, children }) {
  const is = isChosen(form, preset);
  return html`
    <li>
      <button type="button" id=${`preset-${preset.id}`} class="card" aria-pressed=${is ? "true" : "false"} onClick=${() => choosePreset(preset)}>
        <strong>${preset.name} ${is && html`<${Icon} name="check" />`}</strong> <span>${rulesOf(preset)}</span> ${children}
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
