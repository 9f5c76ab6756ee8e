// @ts-check
// The section of the page Limits for raid mode and notices. It has its own button to save, because
// these settings don't belong to the policy.

import { html, useEffect } from "../../vendor/htm-preact.js";
import { configured, mayModerate } from "../core/state.js";
import {
  discardSettings, editSettings, isEdited, loadSettings, noticeExample, noticeFields, raidFields, reloadSettings, restoreSettings, saveSettings,
  settingsErrors,
} from "./settings.js";
import { LimitField } from "../widgets/field.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { State } from "../core/state.js" */
/** @import { Settings } from "./settings.js" */

/** @param {{state: State}} props */
export function ChannelSettings({ state }) {
  const { channel, settings } = state;
  useEffect(() => void loadSettings(), [channel]);
  if (settings?.channel !== channel) return null;
  const errors = settingsErrors(settings.draft);
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    saveSettings();
  };
  return html`
    <form class="limits settings" aria-label="Raid mode and notices" onSubmit=${submit} novalidate>
      <${RaidSettings} settings=${settings} errors=${errors} />
      ${hasNotices(state) && html`<${NoticeSettings} settings=${settings} errors=${errors} />`}
      <${SettingsNote} state=${state} />
      ${mayModerate() && html`<${SettingsButtons} settings=${settings} errors=${errors} />`}
    </form>
  `;
}

// hasNotices reports whether chatguard writes in the channel's chat. It does so only on Twitch.
/** @param {State} of */
const hasNotices = ({ channel, me }) => !me.mounted && !channel.startsWith("check:");

/** @param {{settings: Settings, errors: Record<string, string>}} props */
function RaidSettings({ settings, errors }) {
  const { raid } = settings.draft;
  /** @param {string} name */
  const field = (name) => html`
    <${LimitField} id=${`raid-${name}`} label=${raidFields[name].label} unit=${raidFields[name].unit} isLength=${raidFields[name].isLength} value=${raid[name]} error=${errors[name]}
      fixed=${!mayModerate()} onInput=${(/** @type {string} */ text) => editSettings({ raid: { ...raid, [name]: text } })} />`;
  return html`
    <fieldset class="card">
      <legend>Raid mode</legend>
      <p class="muted">Stricter limits for a while: one limit that everyone shares, and a stricter one for first-timers.</p>
      <div class="fields">${field("channel_burst")}${field("channel_refill")}</div>
      <div class="fields">${field("first_timer_burst")}${field("first_timer_refill")}</div>
      <div class="fields">${field("lasts")}${field("start_rate")}</div>
      <p class="muted">${startWords(raid.start_rate.trim())}</p>
    </fieldset>
  `;
}

/** @param {string} rate */
const startWords = (rate) => (rate === "0" || rate === "" ? "With 0, raid mode starts only when a moderator starts it." : `Raid mode starts by itself once there are ${rate} messages per second over 10 seconds.`);

const samples = ["@{name}, next message in {wait}", "@{name}, please slow down: you can write again in {wait}.", "@{name}, the limit “{limit}” is used up. Next message in {wait}."];

/** @param {{settings: Settings, errors: Record<string, string>}} props */
function NoticeSettings({ settings, errors }) {
  const { notices, text } = settings.draft;
  const fixed = !mayModerate();
  return html`
    <fieldset class="card">
      <legend>Notices in chat</legend>
      <p class="muted">A message to the user after one of their messages was deleted. Leave the text empty to send none.</p>
      <div class="fields text">
        <${LimitField} id="notice-text" label="Text with {name}, {wait} and {limit}" value=${text} hint="No notices" isText fixed=${fixed} error=${errors.text}
          onInput=${(/** @type {string} */ typed) => editSettings({ text: typed })} />
      </div>
      <div class="fields">
        <${LimitField} id="notice-cooldown" label=${noticeFields.cooldown.label} unit=${noticeFields.cooldown.unit} isLength value=${notices.cooldown} fixed=${fixed}
          error=${errors.cooldown} onInput=${(/** @type {string} */ typed) => editSettings({ notices: { cooldown: typed } })} />
      </div>
      ${text.trim() !== "" && !errors.text && html`<p class="muted">Anna reads: “${noticeExample(text)}”</p>`}
      ${!fixed && html`
        <ul class="samples" aria-label="Sample texts">
          ${samples.map((sample) => html`<li><button type="button" class="quiet" onClick=${() => editSettings({ text: sample })}>${sample}</button></li>`)}
        </ul>`}
    </fieldset>
  `;
}

/** @param {{state: State}} props */
function SettingsNote({ state: { settings, status } }) {
  const { problem, isStale, done } = settings;
  return html`
    <div role="status">
      ${problem && html`<p class="note bad"><span>${problem}</span>${isStale && html`<button type="button" class="reload" onClick=${reloadSettings}>Use theirs</button>`}</p>`}
      ${done === "saved" && html`<p class="note">Saved. In force from now on.</p>`}
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
      <button class="primary" id="save-settings" aria-disabled=${stops ? "true" : "false"}>Save raid mode and notices</button>
      <button type="button" aria-disabled=${busy || !edited ? "true" : "false"} onClick=${() => edited && discardSettings()}>Discard changes</button>
      ${!isConfigured && html`<button type="button" class="quiet restore" aria-disabled=${busy ? "true" : "false"} onClick=${restoreSettings}>Back to the ${configured().name}</button>`}
    </div>
  `;
}
