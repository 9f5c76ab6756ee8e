// @ts-check
// The section of the page Limits for raid mode, timeouts and notices. It has its own button to
// save, because these settings don't belong to the policy.

import { languages, t } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { useWarning } from "../core/leaving.js";
import { mayModerate, mayNotify } from "../core/state.js";
import { originText } from "./origin.js";
import { discardSettings, editSettings, inChat, isEdited, loadSettings, noticeExample, reloadSettings, restoreSettings, saveSettings, settingsErrors } from "./settings.js";
import { LimitField } from "../widgets/field.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { Language } from "../../text/text.js" */
/** @import { State } from "../core/state.js" */
/** @import { RaidField, Settings } from "./settings.js" */

/** @param {{state: State}} props */
export function ChannelSettings({ state }) {
  const { channel, settings } = state;
  useEffect(() => void loadSettings(), [channel]);
  useWarning(settings?.channel === channel && isEdited(settings));
  if (settings?.channel !== channel) return null;
  const errors = settingsErrors(settings.draft);
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    saveSettings();
  };
  return html`
    <form class="limits settings" aria-label=${t("limits.settings")} onSubmit=${submit} novalidate>
      <${RaidSettings} settings=${settings} errors=${errors} />
      ${mayBeSilenced(state) && html`<${TimeoutSettings} settings=${settings} errors=${errors} />`}
      ${hasNotices(state) && html`<${NoticeSettings} settings=${settings} errors=${errors} />`}
      <${SettingsNote} state=${state} />
      ${mayModerate() && html`<${SettingsButtons} settings=${settings} errors=${errors} />`}
    </form>
  `;
}

// hasNotices reports whether chatguard writes in the channel's chat. It does so only on Twitch.
/** @param {State} of */
const hasNotices = ({ channel, me }) => !me.mounted && !channel.startsWith("check:");

// mayBeSilenced reports whether people can time users out in the channel.
/** @param {State} of */
const mayBeSilenced = ({ channel, channels }) => Boolean(channels.find(({ id }) => id === channel)?.acts);

/** @param {{settings: Settings, errors: Record<string, string>}} props */
function TimeoutSettings({ settings: { draft: { lengths, reason } }, errors }) {
  const fixed = !mayModerate();
  return html`
    <fieldset class="card">
      <legend>${t("limits.timeouts")}</legend>
      <p class="muted">${t("limits.timeouts-about")}</p>
      <div class="fields text">
        <${LimitField} id="timeout-lengths" label=${t("limits.timeouts-lengths")} hint=${t("limits.timeouts-lengths-hint")} isText fixed=${fixed} value=${lengths} error=${errors.lengths}
          onInput=${(/** @type {string} */ typed) => editSettings({ lengths: typed })} />
      </div>
      <div class="fields text">
        <${LimitField} id="timeout-reason" label=${t("limits.timeouts-reason")} hint=${t("limits.timeouts-no-reason")} isText fixed=${fixed} value=${reason} error=${errors.reason}
          onInput=${(/** @type {string} */ typed) => editSettings({ reason: typed })} />
      </div>
    </fieldset>
  `;
}

/** @param {{settings: Settings, errors: Record<string, string>}} props */
function RaidSettings({ settings, errors }) {
  const { raid } = settings.draft;
  /** @param {RaidField} name @param {string} label @param {string} [unit] a duration has none */
  const field = (name, label, unit) => html`
    <${LimitField} id=${`raid-${name}`} label=${label} unit=${unit} isLength=${!unit} value=${raid[name]} error=${errors[name]}
      fixed=${!mayModerate()} onInput=${(/** @type {string} */ text) => editSettings({ raid: { ...raid, [name]: text } })} />`;
  return html`
    <fieldset class="card">
      <legend>${t("limits.raid")}</legend>
      <p class="muted">${t("limits.raid-about")}</p>
      <div class="fields">${field("channel_burst", t("limits.raid-everyone"), t("limits.unit-messages"))}${field("channel_refill", t("limits.raid-refill"))}</div>
      <div class="fields">${field("first_timer_burst", t("limits.raid-first-timer"), t("limits.unit-messages"))}${field("first_timer_refill", t("limits.raid-refill"))}</div>
      <div class="fields">${field("lasts", t("limits.raid-lasts"))}${field("start_rate", t("limits.raid-start"), t("limits.unit-rate"))}</div>
      <p class="muted">${startWords(raid.start_rate.trim())}</p>
    </fieldset>
  `;
}

/** @param {string} rate */
const startWords = (rate) => (rate === "0" || rate === "" ? t("limits.raid-by-hand") : t("limits.raid-by-itself", { rate }));

const samples = () => [t("limits.sample-short", inChat), t("limits.sample-polite", inChat), t("limits.sample-limit", inChat)];

const reader = "Anna";

/** @param {{settings: Settings, errors: Record<string, string>}} props */
function NoticeSettings({ settings, errors }) {
  const { notices, text, language } = settings.draft;
  const fixed = !mayNotify();
  return html`
    <fieldset class="card">
      <legend>${t("limits.notices")}</legend>
      <p class="muted">${t("limits.notices-about")}</p>
      <div class="fields text">
        <${LimitField} id="notice-text" label=${t("limits.notice-text", inChat)} value=${text} hint=${t("limits.no-notices")} isText fixed=${fixed} error=${errors.text}
          onInput=${(/** @type {string} */ typed) => editSettings({ text: typed })} />
      </div>
      <div class="fields">
        <${LimitField} id="notice-cooldown" label=${t("limits.notice-cooldown")} isLength value=${notices.cooldown} fixed=${fixed}
          error=${errors.cooldown} onInput=${(/** @type {string} */ typed) => editSettings({ notices: { cooldown: typed } })} />
        <${ChatLanguage} language=${language} fixed=${fixed} />
      </div>
      ${text.trim() !== "" && !errors.text && html`<p class="muted">${t("limits.notice-example", { name: reader, text: noticeExample(text, reader) })}</p>`}
      ${!fixed && html`
        <ul class="samples" aria-label=${t("limits.samples")}>
          ${samples().map((sample) => html`<li><button type="button" class="quiet" onClick=${() => editSettings({ text: sample })}>${sample}</button></li>`)}
        </ul>`}
    </fieldset>
  `;
}

// ChatLanguage names each language in that language.
/** @param {{language: string, fixed: boolean}} props */
function ChatLanguage({ language, fixed }) {
  const label = t("limits.notice-language");
  if (fixed) return html`<${LimitField} id="notice-language" label=${label} isText fixed value=${languages[/** @type {Language} */ (language)]} />`;
  return html`
    <div class="field">
      <label for="notice-language">${label}</label>
      <select id="notice-language" value=${language} onChange=${(event) => editSettings({ language: event.target.value })}>
        ${Object.entries(languages).map(([tag, name]) => html`<option value=${tag} lang=${tag} selected=${tag === language}>${name}</option>`)}
      </select>
    </div>
  `;
}

/** @param {{state: State}} props */
function SettingsNote({ state: { settings, status } }) {
  const { problem, isStale, done } = settings;
  return html`
    <div role="status">
      ${problem && html`<p class="note bad"><span>${problem}</span>${isStale && html`<button type="button" class="reload" onClick=${reloadSettings}>${t("limits.use-theirs")}</button>`}</p>`}
      ${done === "saved" && html`<p class="note">${t("limits.settings-saved")}</p>`}
      ${done === "unsaved" && html`<p class="note warn">${unsavedChange(status?.database)}</p>`}
    </div>
  `;
}

/** @param {{settings: Settings, errors: Record<string, string>}} props */
function SettingsButtons({ settings, errors }) {
  const { busy, isConfigured } = settings;
  const edited = isEdited(settings);
  const stops = busy || !edited || Object.keys(errors).length > 0;
  return html`
    <div class="buttons">
      <button class="primary" id="save-settings" aria-disabled=${stops ? "true" : "false"}>${t("limits.settings-save")}</button>
      <button type="button" aria-disabled=${busy || !edited ? "true" : "false"} onClick=${() => edited && discardSettings()}>${t("limits.discard")}</button>
      ${!isConfigured && html`<button type="button" class="quiet restore" aria-disabled=${busy ? "true" : "false"} onClick=${restoreSettings}>${originText("limits.back-to-file", "limits.back-to-code")}</button>`}
    </div>
  `;
}
