// @ts-check
// The card Webhooks: where chatguard sends what happens.

import { t } from "../../text/text.js";
import { html, useEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { follow } from "../core/follow.js";
import { update } from "../core/state.js";
import { Secret } from "./secret.js";
import { WebhookForm } from "./webhook-form.js";
import { WebhookItem } from "./webhook-item.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { State } from "../core/state.js" */
/** @import { Draft } from "./webhook-form.js" */
/** @import { Webhook } from "./webhooks.js" */

const every = 5000; // between two requests, ms

/** @typedef {{hooks: Webhook[] | null, problem: string}} Known */

// openerOf returns the ID of the button that opens the form of a webhook; of a new one, if id is
// empty.
/** @param {string} id */
const openerOf = (id) => (id ? `webhook-change-${id}` : "webhook-add");

/** @param {{state: State}} props */
export function WebhooksCard({ state }) {
  const [known, setKnown] = useState(/** @type {Known} */ ({ hooks: null, problem: "" }));
  const [changes, setChanges] = useState(0); // made here, after which the list is loaded again
  const [edited, edit] = useState(/** @type {string | null} */ (null)); // ID; empty for a new webhook
  const { current: kept } = useRef(/** @type {Record<string, Draft>} */ ({}));
  const [made, setMade] = useState({ name: "", secret: "" });
  const [isUnsaved, setUnsaved] = useState(false);
  useEffect(() => follow("/webhooks", every, ({ body, problem }) => setKnown((before) => ({ hooks: body?.webhooks ?? before.hooks, problem }))), [changes]);
  /** @param {boolean} saved */
  const again = (saved) => {
    setUnsaved(!saved);
    setChanges(changes + 1);
  };
  const cancel = () => {
    delete kept[edited];
    edit(null);
    update((s) => (s.focus = openerOf(edited)));
  };
  /** @param {{webhook: Webhook, secret?: string, saved: boolean}} done */
  const saved = ({ webhook: { name }, secret = "", saved: isSaved }) => {
    cancel();
    if (secret) setMade({ name, secret });
    again(isSaved);
  };
  const { hooks, problem } = known;
  /** @param {Webhook | null} hook */
  const form = (hook) => html`
    <${WebhookForm} hook=${hook} kept=${kept} opener=${openerOf(hook?.id ?? "")} channels=${state.channels} saved=${saved} cancel=${cancel} close=${() => edit(null)} />`;
  return html`
    <section class="card webhooks" aria-labelledby="webhooks-title">
      <div class="card-head">
        <h2 id="webhooks-title" class="headline">${t("webhooks.title")}</h2>
        ${edited !== "" && hooks && html`<button type="button" id="webhook-add" onClick=${() => edit("")}>${t("webhooks.add")}</button>`}
      </div>
      <p class="muted">${t("webhooks.about")}</p>
      ${state.status?.shared && html`<p class="muted">${t("webhooks.this-node-only")}</p>`}
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      ${made.secret && html`
        <${Secret} title=${t("webhooks.secret-title", { name: made.name })} hint=${t("webhooks.secret-hint")} secret=${made.secret} copy=${t("webhooks.copy-secret")} done=${t("webhooks.secret-done")}
          close=${() => setMade({ name: "", secret: "" })} />`}
      ${edited === "" && form(null)}
      <div role="status">${isUnsaved && html`<p class="note warn">${unsavedChange(state.status?.database)}</p>`}</div>
      ${!hooks && !problem && html`<p class="muted">${t("webhooks.loading")}</p>`}
      ${hooks?.length === 0 && edited === null && html`<p>${t("webhooks.none")}</p>`}
      <ul>
        ${hooks?.map((hook) => html`
          <li key=${hook.id} class="webhook">
            ${edited === hook.id ? form(hook) : html`<${WebhookItem} hook=${hook} opener=${openerOf(hook.id)} edit=${() => edit(hook.id)} again=${again} />`}
          </li>
        `)}
      </ul>
    </section>
  `;
}
