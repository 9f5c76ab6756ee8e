// @ts-check
// The page Limits, where a moderator edits the channel's limits. A saved change applies from the
// next message on.

import { rich, t } from "../../text/text.js";
import { html, useEffect, useLayoutEffect, useState } from "../../vendor/htm-preact.js";
import { mayModerate } from "../core/state.js";
import { LimitCard } from "./card.js";
import { addLimit } from "./draft-edits.js";
import { save } from "./form.js";
import { KindWords, newKinds } from "./kinds.js";
import { HistoryPane } from "./history.js";
import { originText } from "./origin.js";
import { loadOverrides } from "./overrides.js";
import { Penalties } from "./penalties.js";
import { PresetChooser } from "./preset-chooser.js";
import { PreviewPane } from "./preview.js";
import { RoleTimes } from "./role-times.js";
import { LimitsFinish } from "./save-bar.js";
import { TriedNote } from "./tried-note.js";
import { fillTried } from "./tried.js";
import { ChannelSettings } from "./settings-form.js";
import { Icon } from "../widgets/icon.js";
import { PageHead } from "../widgets/page-head.js";
import { authorName } from "../words/author.js";
import { clock } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { Form, Revision } from "./form.js" */

/** @param {{state: State}} props */
export function LimitsPage({ state }) {
  const { form } = state;
  if (!form?.policy) {
    return html`
      <${PageHead} title=${t("limits.title")} />
      ${form?.problem ? html`<p class="error" role="alert">${form.problem}</p>` : html`<p class="muted">${t("limits.loading")}</p>`}
    `;
  }
  return html`
    <${Limits} key=${state.channel} state=${state} />
    <${ChannelSettings} key=${`settings-${state.channel}`} state=${state} />
  `;
}

/** @param {{state: State}} props */
function Limits({ state }) {
  const { form, overrides, channel, query } = state;
  const mayEdit = mayModerate();
  useFocus(form);
  useEffect(() => void loadOverrides(), [channel, form.etag]);
  useEffect(fillTried, [channel, form.busy, query.try]);
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    save();
  };
  const [showsPresets, setPresets] = useState(form.revision === null && matchMedia("(min-width: 600px)").matches); // nobody has changed the limits yet
  return html`
    <form class="limits" onSubmit=${submit} novalidate>
      <${PageHead} title=${t("limits.title")}>
        ${mayModerate() && html`
          <button type="button" id="choose-preset" aria-expanded=${showsPresets ? "true" : "false"} onClick=${() => setPresets(!showsPresets)}>
            ${t("limits.presets")}<${Icon} name="chevron-down" />
          </button>`}
      <//>
      <p class="origin muted">${!form.conflict && origin(form.revision)} ${mayModerate() ? t("limits.applies") : mode(form.policy)}</p>
      ${form.tried && html`<${TriedNote} tried=${form.tried} />`}
      ${mayModerate() && (showsPresets || form.presets.length > 0) && html`<${PresetChooser} form=${form} />`}
      <div class="columns">
        <div class="rules">
          <${RoleTimes} form=${form} mayEdit=${mayEdit} />
          ${form.draft.limits.map((limit, i) => html`
            <${LimitCard} key=${limit.id} limit=${limit} index=${i} form=${form} mayEdit=${mayEdit} overrides=${overrides} channel=${channel} />
          `)}
          ${form.draft.limits.length === 0 && html`<p class="none muted">${t("limits.none")}</p>`}
          ${overrides?.problem && html`<p class="error">${t("limits.custom-failed", { problem: overrides.problem })}</p>`}
          ${mayModerate() && html`<${LimitChooser} zone=${form.draft.timezone.trim()} />`}
        </div>
        <div class="beside">
          <${Penalties} form=${form} mayEdit=${mayEdit} />
          <${HistoryPane} state=${state} mayEdit=${mayEdit} />
        </div>
        <${PreviewPane} state=${state} />
      </div>
      ${mayModerate() && html`<${LimitsFinish} state=${state} />`}
    </form>
  `;
}

// useFocus moves the focus to the element that the last edit named. If the focused element
// disappears or is disabled, the focus goes to the save button.
/** @param {Form} of */
function useFocus({ focus }) {
  const had = document.activeElement.closest(".limits");
  useLayoutEffect(() => focus && document.getElementById(focus.id)?.focus(), [focus]);
  useLayoutEffect(() => {
    const has = document.activeElement;
    if (had && (has === document.body || has.matches(":disabled"))) document.getElementById("save")?.focus();
  });
}

/** @param {Revision | null | undefined} revision */
function origin(revision) {
  if (revision === undefined) return t("limits.change-unknown");
  if (!revision?.changes?.length) return originText("limits.same-file", "limits.same-code");
  return rich("limits.changed", { who: html`<bdi>${authorName(revision.author)}</bdi>`, time: clock(Date.parse(revision.at)) });
}

/** @param {Api.Policy} policy */
const mode = (policy) => t(policy.mode === "enforce" ? "limits.enforced" : "limits.observed");

/** @param {{zone: string}} props */
function LimitChooser({ zone }) {
  const [isOpen, setOpen] = useState(false);
  /** @param {string} algorithm */
  const add = (algorithm) => {
    setOpen(false);
    addLimit(algorithm);
  };
  /** @param {KeyboardEvent} event */
  const close = (event) => {
    if (event.key !== "Escape") return;
    setOpen(false);
    document.getElementById("add-limit").focus();
  };
  return html`
    <div class="chooser" onKeyDown=${close}>
      <button type="button" id="add-limit" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}><${Icon} name="plus" />${t("limits.add")}</button>
      ${isOpen && html`
        <ul class="kinds" aria-label=${t("limits.kinds")}>
          ${newKinds(zone).map(({ algorithm, rule }) => html`
            <li><button type="button" value=${algorithm} onClick=${() => add(algorithm)}><${KindWords} algorithm=${algorithm} rule=${rule} /></button></li>`)}
        </ul>`}
    </div>
  `;
}
