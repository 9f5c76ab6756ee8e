// @ts-check
// What couldn't be sent to a webhook and was given up.

import { rich, t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { useEscape } from "../core/escape.js";
import { follow } from "../core/follow.js";
import { sent } from "./sent.js";
import { pathOf } from "./webhooks.js";
import { stamp } from "../words/time.js";
/** @import { Delivery, Webhook } from "./webhooks.js" */

const every = 10_000; // between two requests, ms

/** @param {{hook: Webhook, again: (saved: boolean) => void, opener: string, close: () => void}} props */
export function Deliveries({ hook, again, opener, close }) {
  const place = useEscape(close, opener);
  const [{ dead, problem }, setKnown] = useState({ dead: /** @type {Delivery[] | null} */ (null), problem: "" });
  const [said, say] = useState({ text: "", isProblem: false });
  const [changes, setChanges] = useState(0);
  useEffect(() => follow(pathOf(hook) + "/deliveries", every, (news) => setKnown((before) => ({ dead: news.body?.dead ?? before.dead, problem: news.problem }))), [hook.id, hook.dead, changes]);
  /** @param {string} method @param {string} path @param {string} done */
  const act = async (method, path, done) => {
    const outcome = await sent(method, `${pathOf(hook)}/deliveries/${path}`);
    say(outcome.body ? { text: done, isProblem: false } : { text: outcome.problem, isProblem: true });
    setChanges(changes + 1);
    again(outcome.body?.saved ?? true);
  };
  return html`
    <div class="deliveries" ref=${place} role="group" aria-label=${t("webhooks.given-up-of", { name: hook.name })}>
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <p role="status" class=${said.isProblem ? "bad" : "muted"}>${said.text}</p>
      ${!dead && !problem && html`<p class="muted">${t("webhooks.loading-deliveries")}</p>`}
      ${dead?.length === 0 && html`<p class="muted">${t("webhooks.nothing-given-up")}</p>`}
      <ul>
        ${dead?.map((letter) => html`
          <li key=${letter.id}>
            <p><bdi>${letter.text}</bdi></p>
            <p class="muted">${rich("webhooks.given-up-because", { time: stamp(Date.parse(letter.dead_at ?? "")), reason: html`<bdi>${letter.reason}</bdi>` })}</p>
            <div class="together">
              <button type="button" class="send-again" aria-label=${t("webhooks.send-again-what", { text: letter.text })} onClick=${() => act("POST", `${letter.id}/retry`, t("webhooks.sent-again"))}>${t("webhooks.send-again")}</button>
              <button type="button" class="quiet" aria-label=${t("webhooks.remove-what", { text: letter.text })} onClick=${() => act("DELETE", String(letter.id), "")}>${t("webhooks.remove")}</button>
            </div>
          </li>`)}
      </ul>
      ${hook.removed && html`<p class="muted">${t("webhooks.removed", { n: hook.removed })}</p>`}
    </div>
  `;
}
