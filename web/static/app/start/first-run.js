// @ts-check
// The setup page, before there is a configuration: which channel, and where its day ends.

import { t } from "../../text/text.js";
import { html, useLayoutEffect, useState } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ClientIDGuide, wrongClientID } from "./client-id.js";
import { Zones } from "../widgets/field.js";
import { Masthead } from "../widgets/masthead.js";

/** @typedef {{channel: string, timezone: string, client_id: string}} Answers */
/** @typedef {Partial<Record<keyof Answers | "all", string>>} Problems */

/** @param {string} text */
const channelOf = (text) => text.trim().toLowerCase().replace(/^.*twitch\.tv\//, "").replace(/\/$/, "").replace(/^#/, "");

// problemsOf says what is wrong with the answers; chatguard checks them again.
/** @param {Answers} answers @returns {Problems} */
export function problemsOf({ channel, timezone, client_id: id }) {
  /** @type {Problems} */
  const problems = {};
  if (!/^[a-z0-9_]{1,25}$/.test(channelOf(channel))) problems.channel = t("start.wrong-channel");
  try {
    new Intl.DateTimeFormat(undefined, { timeZone: timezone });
  } catch {
    problems.timezone = t("start.wrong-zone");
  }
  if (id && wrongClientID(id)) problems.client_id = wrongClientID(id);
  return problems;
}

const key = "setup"; // of what was typed, in this window

/** @returns {Partial<Answers>} */
function restored() {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? {};
  } catch {
    return {}; // the browser keeps nothing
  }
}

// keep keeps what was typed for when the page is loaded again, such as in another language.
/** @param {Answers | null} answers */
function keep(answers) {
  try {
    if (answers) sessionStorage.setItem(key, JSON.stringify(answers));
    else sessionStorage.removeItem(key);
  } catch {
    // It is lost with the page.
  }
}

/** @param {HTMLFormElement} form @returns {Answers} */
function answersOf(form) {
  const data = new FormData(form), read = (/** @type {string} */ name) => String(data.get(name) ?? "").trim();
  return { channel: read("channel"), timezone: read("timezone"), client_id: read("client_id") };
}

/** @param {{console: string, onCreated: (code: string) => Promise<void>}} props */
export function FirstRunPage({ console: page, onCreated }) {
  const [problems, setProblems] = useState(/** @type {Problems} */ ({}));
  const [busy, setBusy] = useState(false);
  const [typed] = useState(restored);
  const [showsID, showID] = useState(Boolean(typed.client_id));
  useLayoutEffect(() => document.getElementById("channel").focus(), []);
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    const answers = answersOf(event.target);
    const found = problemsOf(answers);
    setProblems(found);
    if (found.client_id) showID(true); // from then on, or other errors would hide the field
    const [first] = Object.keys(found);
    if (first) return /** @type {HTMLElement} */ (event.target.querySelector(`[name=${first}]`)).focus();
    setBusy(true);
    try {
      const { body } = await request("PUT", "/configuration", { body: answers });
      keep(null);
      await onCreated(body.code);
    } catch (problem) {
      setProblems({ all: problem.message });
      setBusy(false);
    }
  };
  return html`
    <main class="setup-page">
      <${Masthead} title=${t("shell.set-up")} />
      <p class="muted">${t("start.first-about")}</p>
      <form onSubmit=${submit} onInput=${(event) => keep(answersOf(event.currentTarget))} novalidate>
        <${Question} name="channel" label=${t("start.channel")} hint=${t("start.channel-hint")} value=${typed.channel} problem=${problems.channel} />
        <${Question} name="timezone" label=${t("start.zone")} about=${t("start.zone-about")} value=${typed.timezone || Intl.DateTimeFormat().resolvedOptions().timeZone} list="zones" problem=${problems.timezone} />
        <${Zones} />
        <details open=${showsID}>
          <summary>${t("start.application")} <span class="muted">${t("start.application-optional")}</span></summary>
          <p class="muted">${t("start.application-about")}</p>
          <${ClientIDGuide} page=${page} />
          <${Question} name="client_id" label=${t("start.client-id")} value=${typed.client_id} problem=${problems.client_id} />
        </details>
        <button class="primary" id="begin" aria-disabled=${busy ? "true" : "false"}>${busy ? t("start.starting") : t("start.begin")}</button>
        <p class="error" role="alert">${problems.all}</p>
      </form>
      <p class="muted small">${t("start.writes")}</p>
    </main>
  `;
}

/** @param {{name: string, label: string, about?: string, hint?: string, value?: string, list?: string, problem?: string}} props */
function Question({ name, label, about, hint, value, list, problem }) {
  return html`
    <div class="setup-question">
      <label for=${name}>${label}</label>
      <input id=${name} name=${name} autocomplete="off" autocapitalize="off" spellcheck=${false} placeholder=${hint} defaultValue=${value} list=${list}
        aria-describedby="${name}-about" aria-invalid=${problem ? "true" : "false"} />
      <p id="${name}-about" class=${problem ? "error" : "muted"} aria-live="polite">${problem || about}</p>
    </div>
  `;
}
