// @ts-check
// The form for a new or a changed webhook.

import { t } from "../../text/text.js";
import { html, useLayoutEffect, useState } from "../../vendor/htm-preact.js";
import { useEscape } from "../core/escape.js";
import { useWarning } from "../core/leaving.js";
import { sent } from "./sent.js";
import { eventNames, formatNames, pathOf } from "./webhooks.js";
import { Tick } from "../widgets/field.js";
/** @import { Webhook } from "./webhooks.js" */

/**
 * Draft is what a person has entered.
 * @typedef {{name: string, url: string, format: string, events: string[], channels: string[], new_secret: boolean}} Draft
 */

/** @type {Draft} */
const empty = { name: "", url: "", format: "discord", events: ["raid", "pause", "failure", "limits", "ban", "summary"], channels: [], new_secret: false };

/**
 * WebhookForm keeps what was typed in kept, by the webhook's ID, for when Escape closes it. opener
 * is the ID of the button that opened it.
 * @param {{hook: Webhook | null, kept: Record<string, Draft>, opener: string, channels: Api.Channel[], saved: (done: any) => void, cancel: () => void, close: () => void}} props
 */
export function WebhookForm({ hook, kept, opener, channels, saved, cancel, close }) {
  const id = hook?.id ?? "";
  const [draft, write] = useState(() => kept[id] ?? (hook ? { ...empty, name: hook.name, format: hook.format, events: hook.events, channels: hook.channels } : empty));
  const [{ isBusy, problem }, setSending] = useState({ isBusy: false, problem: "" });
  const place = useEscape(close, opener);
  useLayoutEffect(() => place.current.querySelector("input").focus(), []);
  useWarning(kept[id] !== undefined);
  const set = (/** @type {Partial<Draft>} */ news) => write((kept[id] = { ...draft, ...news }));
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    setSending({ isBusy: true, problem: "" });
    const { url, ...rest } = draft;
    const body = { ...rest, name: draft.name.trim(), ...(url.trim() && { url: url.trim() }) };
    const outcome = await (hook ? sent("PUT", pathOf(hook), body) : sent("POST", "/webhooks", body));
    if (outcome.body) saved(outcome.body);
    else setSending({ isBusy: false, problem: outcome.problem });
  };
  const heading = hook ? t("webhooks.change-webhook", { name: hook.name }) : t("webhooks.new-webhook");
  return html`
    <form class="webhook-form" ref=${place} aria-label=${heading} novalidate onSubmit=${submit}>
      <h3>${heading}</h3>
      <div class="field">
        <label for="webhook-name">${t("webhooks.name")}</label>
        <input id="webhook-name" autocomplete="off" maxlength="50" value=${draft.name} onInput=${(event) => set({ name: event.target.value })} />
      </div>
      <div class="field">
        <label for="webhook-address">${t("webhooks.address")}</label>
        <input id="webhook-address" inputmode="url" autocomplete="off" spellcheck="false" value=${draft.url} aria-describedby="webhook-address-note"
          placeholder=${hook ? t("webhooks.address-kept", { address: hook.address }) : t("webhooks.address-hint")} onInput=${(event) => set({ url: event.target.value })} />
        <p id="webhook-address-note" class="muted">${t("webhooks.address-secret")}</p>
      </div>
      <div class="field">
        <label for="webhook-format">${t("webhooks.format")}</label>
        <select id="webhook-format" value=${draft.format} onChange=${(event) => set({ format: event.target.value })}>
          ${Object.keys(formatNames).map((format) => html`<option value=${format} selected=${format === draft.format}>${formatNames[format]}</option>`)}
        </select>
      </div>
      <fieldset>
        <legend>${t("webhooks.events")}</legend>
        ${Object.keys(eventNames).map((event) => html`
          <${Tick} id=${`webhook-event-${event}`} checked=${draft.events.includes(event)} onChange=${(/** @type {boolean} */ is) => set({ events: toggled(draft.events, event, is) })}>${eventNames[event]}<//>`)}
      </fieldset>
      ${(channels.length > 1 || draft.channels.length > 0) && html`
        <fieldset>
          <legend>${t("webhooks.channels")}</legend>
          ${offered(channels, draft.channels).map((login) => html`
            <${Tick} id=${`webhook-channel-${login}`} checked=${draft.channels.includes(login)} onChange=${(/** @type {boolean} */ is) => set({ channels: toggled(draft.channels, login, is) })}><bdi>${login}</bdi><//>`)}
          <p class="muted">${t("webhooks.channels-hint")}</p>
        </fieldset>`}
      ${hook?.format === "signed" && draft.format === "signed" && html`
        <${Tick} id="webhook-new-secret" checked=${draft.new_secret} onChange=${(/** @type {boolean} */ is) => set({ new_secret: is })}>${t("webhooks.new-secret")}<//>`}
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <div class="together">
        <button type="submit" id="webhook-save" class="primary" aria-disabled=${isBusy ? "true" : "false"}>${t("webhooks.save")}</button>
        <button type="button" onClick=${cancel}>${t("webhooks.cancel")}</button>
      </div>
    </form>
  `;
}

// toggled adds an element to a list, or removes it.
/** @param {string[]} list @param {string} element @param {boolean} is */
const toggled = (list, element, is) => (is ? [...list, element] : list.filter((other) => other !== element));

// offered returns the names of the channels that can be chosen: those that are served, and those
// that the webhook has.
/** @param {Api.Channel[]} channels @param {string[]} chosen */
const offered = (channels, chosen) => [...new Set([...channels.map(({ login }) => login), ...chosen])];
