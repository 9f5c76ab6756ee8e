// @ts-check
// The form for a new token or sign-in link.

import { t } from "../../text/text.js";
import { html, useLayoutEffect, useState } from "../../vendor/htm-preact.js";
import { useEscape } from "../core/escape.js";
import { useWarning } from "../core/leaving.js";
import { lifetimes, roleMeanings, roles } from "./access.js";
import { sent } from "./sent.js";
import { accessName } from "../words/access.js";
/** @import { Kind } from "./access.js" */

const longest = 200; // characters of a name

/** @typedef {{name: string, role: string, expires: string}} AccessDraft */

// AccessForm makes a token or a link. It passes the answer on with the name. kept has what was
// typed before Escape closed the form.
/**
 * @param {{kind: Kind, kept: Partial<Record<Kind, AccessDraft>>, made: (name: string, answer: any) => void, cancel: () => void, close: () => void}} props
 */
export function AccessForm({ kind, kept, made, cancel, close }) {
  const [draft, write] = useState(() => kept[kind] ?? { name: "", role: roles[kind][0], expires: "" });
  const [{ isBusy, problem }, setSending] = useState({ isBusy: false, problem: "" });
  const place = useEscape(close, `new-${kind}`);
  useLayoutEffect(() => place.current.querySelector("input").focus(), []);
  const { name, role, expires } = draft;
  useWarning(name !== "");
  const set = (/** @type {Partial<AccessDraft>} */ news) => write((kept[kind] = { ...draft, ...news }));
  const isToken = kind === "token";
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    if (name.trim() === "") return setSending({ isBusy: false, problem: t("admin.no-name") });
    setSending({ isBusy: true, problem: "" });
    const wanted = { name: name.trim(), role };
    const outcome = await sent("POST", isToken ? "/tokens" : "/links", isToken ? { ...wanted, ...(expires && { expires }) } : wanted);
    setSending({ isBusy: false, problem: outcome.problem });
    if (outcome.body) made(wanted.name, outcome.body);
  };
  const heading = isToken ? t("admin.new-token") : t("admin.new-link");
  return html`
    <form class="admin-form" ref=${place} aria-label=${heading} novalidate onSubmit=${submit}>
      <h3>${heading}</h3>
      <p class="muted">${isToken ? t("admin.token-about") : t("admin.link-about")}</p>
      <div class="field">
        <label for="access-name">${t("admin.name")}</label>
        <input id="access-name" autocomplete="off" spellcheck="false" maxlength=${longest} value=${name} aria-describedby="access-name-note"
          onInput=${(event) => set({ name: event.target.value })} />
        <p id="access-name-note" class="muted">${t("admin.name-about")}</p>
      </div>
      <div class="field">
        <label for="access-role">${t("admin.role")}</label>
        <select id="access-role" value=${role} aria-describedby="access-role-note" onChange=${(event) => set({ role: event.target.value })}>
          ${roles[kind].map((one) => html`<option value=${one} selected=${one === role}>${accessName(one)}</option>`)}
        </select>
        <p id="access-role-note" class="muted">${roleMeanings[role]}</p>
      </div>
      ${isToken && html`
        <div class="field">
          <label for="access-expires">${t("admin.expires")}</label>
          <select id="access-expires" value=${expires} onChange=${(event) => set({ expires: event.target.value })}>
            ${Object.entries(lifetimes).map(([time, text]) => html`<option value=${time} selected=${time === expires}>${text}</option>`)}
          </select>
        </div>`}
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <div class="together">
        <button type="submit" id="access-make" class="primary" aria-disabled=${isBusy ? "true" : "false"}>${isToken ? t("admin.make-token") : t("admin.make-link")}</button>
        <button type="button" onClick=${cancel}>${t("shell.cancel")}</button>
      </div>
    </form>
  `;
}
