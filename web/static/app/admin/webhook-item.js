// @ts-check
// A webhook in the list: whether it works, and the actions on it.

import { commas, list, rich, sentences, t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { Deliveries } from "./webhook-deliveries.js";
import { sent } from "./sent.js";
import { eventNames, formatNames, pathOf } from "./webhooks.js";
import { Question } from "../widgets/question.js";
import { clock, stamp } from "../words/time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { Webhook } from "./webhooks.js" */

/** @param {{hook: Webhook, opener: string, edit: () => void, again: (saved: boolean) => void}} props */
export function WebhookItem({ hook, opener, edit, again }) {
  const [said, say] = useState(/** @type {Value} */ (null));
  const [isBusy, setBusy] = useState(false);
  const [isAsked, ask] = useState(false);
  const [isOpen, open] = useState(false);
  const { id, name, dead } = hook;
  const test = async () => {
    if (isBusy) return;
    setBusy(true);
    say(t("webhooks.testing"));
    const { body, problem } = await sent("POST", pathOf(hook) + "/test");
    setBusy(false);
    say(body ? tested(body) : html`<span class="bad">${problem}</span>`);
    again(true);
  };
  const remove = async () => {
    const { body, problem } = await sent("DELETE", pathOf(hook));
    if (body) again(body.saved);
    else say(html`<span class="bad">${problem}</span>`);
  };
  return html`
    <div class="webhook-head">
      <h3><bdi>${name}</bdi></h3>
      <${StateChip} hook=${hook} />
      ${hook.configured && html`<span class="chip">${t("webhooks.in-file")}</span>`}
    </div>
    <p class="muted"><bdi class="address">${hook.address}</bdi> · ${formatNames[hook.format]}</p>
    <p class="muted">${scope(hook)}</p>
    <p>${standing(hook)}</p>
    ${hook.off && html`<p class="bad">${rich("webhooks.off-because", { reason: html`<bdi>${hook.off}</bdi>` })}</p>`}
    <div class="together buttons">
      <button type="button" class="test" aria-label=${t("webhooks.test-of", { name })} aria-disabled=${isBusy ? "true" : "false"} onClick=${test}>${t("webhooks.test")}</button>
      ${!hook.configured && html`
        <button type="button" id=${opener} aria-label=${t("webhooks.change-of", { name })} onClick=${edit}>${t("webhooks.change")}</button>
        <button type="button" id=${`webhook-delete-${id}`} class="delete" aria-label=${t("webhooks.delete-of", { name })} aria-expanded=${isAsked ? "true" : "false"} onClick=${() => ask(!isAsked)}>${t("webhooks.delete")}</button>`}
      ${(dead > 0 || isOpen) && html`
        <button type="button" id=${`webhook-letters-${id}`} class="letters" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => open(!isOpen)}>${t("webhooks.given-up", { n: dead })}</button>`}
    </div>
    ${isAsked && html`
      <${Question} label=${t("webhooks.delete-question")} opener=${`webhook-delete-${id}`} yes=${t("webhooks.delete-now")} no=${t("webhooks.keep")} act=${remove} close=${() => ask(false)}>
        ${t("webhooks.delete-question")}
      <//>`}
    <p role="status" class="said">${said}</p>
    ${isOpen && html`<${Deliveries} hook=${hook} again=${again} opener=${`webhook-letters-${id}`} close=${() => open(false)} />`}
  `;
}

// tested says what became of a test.
/** @param {Api.postWebhooksTest} outcome */
function tested({ delivered, problem = "", answer, took_ms: ms }) {
  if (delivered) return html`<span class="good">${t("webhooks.test-arrived", { ms })}</span>`;
  return html`
    <span class="bad">${rich("webhooks.test-failed", { problem: html`<bdi>${problem}</bdi>` })}</span>
    ${answer && html`<span class="answer muted">${rich("webhooks.test-answer", { answer: html`<bdi>${answer}</bdi>` })}</span>`}`;
}

/** @param {{hook: Webhook}} props */
function StateChip({ hook: { off, success_at: success = "", failure_at: failure = "" } }) {
  if (off) return html`<span class="chip failed">${t("webhooks.off")}</span>`;
  if (!success && !failure) return html`<span class="chip pending">${t("webhooks.unused")}</span>`;
  return failure > success ? html`<span class="chip warned">${t("webhooks.fails")}</span>` : html`<span class="chip good">${t("webhooks.works")}</span>`;
}

// scope says what a webhook receives.
/** @param {Webhook} hook */
function scope({ events, channels, allow_private: isPrivate }) {
  const isAll = Object.keys(eventNames).every((event) => events.includes(event));
  return sentences(
    isAll ? t("webhooks.all-events") : t("webhooks.of-events", { events: commas(events.map((event) => eventNames[event] ?? event)) }),
    channels.length === 0 ? t("webhooks.all-channels") : t("webhooks.of-channels", { channels: list(channels).join("") }),
    isPrivate && t("webhooks.private-allowed"),
  );
}

// standing says when a webhook last worked and failed, and how many deliveries are pending.
/** @param {Webhook} hook */
function standing({ success_at: success, failure_at: failure, failure: reason = "", waiting, next_at: next, off }) {
  return [
    success && html`<span>${t("webhooks.last-success", { time: stamp(Date.parse(success)) })} </span>`,
    failure && !off && html`<span>${rich("webhooks.last-failure", { time: stamp(Date.parse(failure)), reason: html`<bdi>${reason}</bdi>` })} </span>`,
    waiting > 0 && html`<span>${next ? t("webhooks.waiting-until", { n: waiting, time: clock(Date.parse(next)) }) : t("webhooks.waiting", { n: waiting })}</span>`,
  ];
}
