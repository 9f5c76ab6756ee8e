// @ts-check
// The checklist of the first evening: connect the bot, make it a moderator, watch, enforce.

import { rich, sentences, t, table } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { fragment, linkTo } from "../core/route.js";
import { ifSignedOut } from "../core/session.js";
import { mayOwnAll, state as whole, unreadHere, update } from "../core/state.js";
import { LoginDialog, open } from "./login.js";
import { again, change } from "./setup.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";
import { toMinute } from "../words/time.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */
/** @import { Setup, Start } from "./setup.js" */

/** @typedef {{state: State, start: Start, setup: Setup}} Of */

/** @type {Record<Setup["steps"][number]["name"], {title: TextKey, Body: (of: Of & {is: string}) => View}>} */
const steps = {
  connect: { title: "start.connect", Body: Connect },
  moderator: { title: "start.moderator", Body: Moderator },
  watch: { title: "start.watch", Body: Watch },
  enforce: { title: "start.enforce", Body: Enforce },
};

const icons = { todo: "", running: "clock", done: "check", failed: "alert" };
const words = table({ todo: "start.todo", running: "start.running", done: "start.done", failed: "start.failed" });

/** @param {{state: State, start: Start}} props */
export function Checklist({ state, start }) {
  const { setup } = start;
  const done = setup.steps.filter((step) => step.state === "done").length;
  return html`
    <section class="card checklist" aria-labelledby="checklist-title">
      <div class="checklist-head">
        <h2 id="checklist-title" class="headline">${setup.done ? t("start.all-done") : t("start.title")}</h2>
        <span class="muted">${t("start.count", { done, all: setup.steps.length })}</span>
        <button type="button" class="icon-only" aria-label=${t("start.hide")} title=${t("start.hide")} onClick=${hide}><${Icon} name="close" /></button>
      </div>
      <ol>
        ${setup.steps.map(({ name, state: is }, i) => html`
          <li key=${name} class="step ${is}" id="step-${name}">
            <span class="mark">${icons[is] ? html`<${Icon} name=${icons[is]} />` : i + 1}</span>
            <h3>${t(steps[name].title)}<span class="unseen"> – ${words[is]}</span></h3>
            <div class="step-body"><${steps[name].Body} state=${state} start=${start} setup=${setup} is=${is} /></div>
          </li>
        `)}
      </ol>
      <${LoginDialog} state=${state} />
    </section>
  `;
}

function hide() {
  change({ isHidden: true, isAsking: false });
  if (whole.query.setup) location.hash = fragment("now", whole.channels.length > 1 ? whole.channel : "");
}

/** @param {Of & {is: string}} props */
function Connect({ state, setup, is }) {
  const isOwner = mayOwnAll();
  const button = (/** @type {string} */ text, /** @type {string} */ kind) => isOwner && html`<button type="button" id="connect" class=${kind} onClick=${open}>${text}</button>`;
  if (is === "done") {
    return html`
      <p>${rich("start.connected", { account: html`<bdi>${setup.account}</bdi>` })} ${setup.problem && html`<span class="warn-text">${sentence(setup.problem)}</span>`}</p>
      ${button(setup.problem ? t("start.connect-again") : t("start.connect-other"), "quiet")}`;
  }
  if (is === "running") return html`<p>${sentences(t("start.checking"), sentence(setup.problem ?? ""))}</p>`;
  return html`
    <p>${sentences(is === "failed" ? sentence(setup.problem) : aboutConnecting(), !isOwner && t("start.ask-owner"))}</p>
    ${button(is === "failed" ? t("start.connect-again") : t("start.connect-it"), "primary")}`;
}

// aboutConnecting says what the bot is needed for.
const aboutConnecting = () => (unreadHere()?.reason === "no token" ? t("unread.token") : t("start.connect-about"));

// sentence writes chatguard's words about the token as a sentence. Their fix is a command; here it
// is a button.
/** @param {string} text */
function sentence(text) {
  const said = text.replace(/[:;,]? run `chatguard login`( again)?/, "");
  return said && said[0].toUpperCase() + said.slice(1) + (said.endsWith(".") ? "" : ".");
}

/** @param {Of & {is: string}} props */
function Moderator({ setup, start, is }) {
  if (is === "done") return html`<p>${rich("start.moderates", { account: html`<bdi>${setup.account}</bdi>` })}</p>`;
  if (!setup.command) return html`<p class="muted">${t("start.moderator-later")}</p>`;
  return html`
    <p>${t("start.moderator-how")}</p>
    <div class="copyable">
      <code>${setup.command}</code>
      <${Copy} text=${setup.command} label=${t("start.copy-command")} />
      <a class="button" href=${setup.chat_page} target="_blank" rel="noreferrer">${t("start.open-chat")}<${Icon} name="external-link" /></a>
    </div>
    <p class="muted">${t("start.moderator-soon")}</p>
  `;
}

/** @param {Of} props */
function Watch({ state, setup }) {
  const { messages, observed, since, mode } = setup;
  const values = { time: toMinute(Date.parse(since)), n: messages };
  const isUnread = messages === 0 && unreadHere();
  return html`
    <p>${isUnread ? t("start.watching-not") : mode === "enforce" ? t("start.watching", values) : t("start.watching-would", { ...values, observed })}</p>
    ${state.channel && html`<a class="button quiet" href=${linkTo(state, "limits")}>${t("start.see-limits")}</a>`}
  `;
}

/** @param {Of & {is: string}} props */
function Enforce({ state, start, setup, is }) {
  if (is === "done") return html`<p>${setup.done ? t("start.enforced") : t("start.enforced-later")}</p>`;
  const isReady = setup.steps.slice(0, 2).every((step) => step.state === "done");
  if (!isReady) return html`<p class="muted">${t("start.enforce-later")}</p>`;
  if (!start.isAsking) {
    return html`
      <p>${t("start.observes")}</p>
      <button type="button" id="enforce" class="primary" onClick=${() => confirm(true)}>${t("start.enforce-open")}</button>`;
  }
  return html`
    <p>${t("start.enforce-question")}</p>
    <div class="together">
      <button type="button" id="enforce-now" class="primary" aria-disabled=${start.busy ? "true" : "false"} onClick=${() => enforce(state)}>${t("start.enforce-it")}</button>
      <button type="button" onClick=${() => confirm(false)}>${t("start.not-yet")}</button>
    </div>
    ${start.problem && html`<p class="error" role="alert">${start.problem}</p>`}
  `;
}

/** @param {boolean} isAsking */
function confirm(isAsking) {
  change({ isAsking, problem: "" });
  update((s) => (s.focus = isAsking ? "enforce-now" : "enforce"));
}

// enforce changes only the mode of the policy in force.
/** @param {State} state */
async function enforce({ channel, start, status }) {
  if (start.busy) return;
  change({ busy: true, problem: "" });
  const path = `/channels/${encodeURIComponent(channel)}/policy`;
  try {
    const { body: policy, etag } = await request("GET", path);
    const { body } = await request("PUT", path, { body: { ...policy, mode: "enforce" }, ifMatch: etag });
    change({ busy: false, isAsking: false });
    update((s) => (s.announcement = body.saved ? t("start.enforced-said") : unsavedChange(status.database)));
    again();
  } catch (problem) {
    if (!ifSignedOut(problem)) change({ busy: false, problem: problem.message });
  }
}
