// @ts-check
// The checklist of the first evening: connect the bot, make it a moderator, watch, enforce.

import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { fragment, linkTo } from "../core/route.js";
import { ifSignedOut } from "../core/session.js";
import { state as whole, update } from "../core/state.js";
import { LoginDialog, open } from "./login.js";
import { again, change } from "./setup.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";
import { toMinute } from "../words/time.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */
/** @import { Setup, Start } from "./setup.js" */

const count = new Intl.NumberFormat("en-GB");

/** @typedef {{state: State, start: Start, setup: Setup}} Of */

/** @type {Record<Setup["steps"][number]["name"], {title: string, Body: (of: Of & {is: string}) => View}>} */
const steps = {
  connect: { title: "Connect the bot", Body: Connect },
  moderator: { title: "Make it a moderator", Body: Moderator },
  watch: { title: "Watch what would happen", Body: Watch },
  enforce: { title: "Enforce the limits", Body: Enforce },
};

const icons = { todo: "", running: "clock", done: "check", failed: "alert" };
const words = { todo: "to do", running: "in progress", done: "done", failed: "failed" };

/** @param {{state: State, start: Start}} props */
export function Checklist({ state, start }) {
  const { setup } = start;
  const done = setup.steps.filter((step) => step.state === "done").length;
  return html`
    <section class="card checklist" aria-labelledby="checklist-title">
      <div class="checklist-head">
        <h2 id="checklist-title" class="headline">${setup.done ? "Everything is set up" : "Get started"}</h2>
        <span class="muted">${done} of ${setup.steps.length} done</span>
        <button type="button" class="icon-only" aria-label="Hide the checklist" title="Hide the checklist" onClick=${hide}><${Icon} name="close" /></button>
      </div>
      <ol>
        ${setup.steps.map(({ name, state: is }, i) => html`
          <li key=${name} class="step ${is}" id="step-${name}">
            <span class="mark">${icons[is] ? html`<${Icon} name=${icons[is]} />` : i + 1}</span>
            <h3>${steps[name].title}<span class="unseen"> – ${words[is]}</span></h3>
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
  const isOwner = state.me.access === "own";
  const button = (/** @type {string} */ text, /** @type {string} */ kind) => isOwner && html`<button type="button" id="connect" class=${kind} onClick=${open}>${text}</button>`;
  if (is === "done") {
    return html`
      <p>Connected as <bdi>${setup.account}</bdi>. ${setup.problem && html`<span class="warn-text">${sentence(setup.problem)}</span>`}</p>
      ${button(setup.problem ? "Connect again…" : "Use another account…", "quiet")}`;
  }
  if (is === "running") return html`<p>Twitch is checking the token. ${sentence(setup.problem ?? "")}</p>`;
  return html`
    <p>${is === "failed" ? sentence(setup.problem) : "Reading chat needs no account. To act on messages, chatguard needs a Twitch account that moderates the channel."}
      ${!isOwner && " Ask the owner of this dashboard to connect it."}</p>
    ${button(is === "failed" ? "Connect again…" : "Connect…", "primary")}`;
}

// sentence writes chatguard's words about the token as a sentence. Their fix is a command; here it
// is a button.
/** @param {string} text */
function sentence(text) {
  const said = text.replace(/[:;,]? run `chatguard login`( again)?/, "");
  return said && said[0].toUpperCase() + said.slice(1) + (said.endsWith(".") ? "" : ".");
}

/** @param {Of & {is: string}} props */
function Moderator({ setup, start, is }) {
  if (is === "done") return html`<p><bdi>${setup.account}</bdi> may delete messages and time users out.</p>`;
  if (!setup.command) return html`<p class="muted">Follows once the bot is connected.</p>`;
  return html`
    <p>Type this in the channel’s chat, as its owner:</p>
    <div class="copyable">
      <code>${setup.command}</code>
      <${Copy} text=${setup.command} what="command" />
      <a class="button" href=${setup.chat_page} target="_blank" rel="noreferrer">Open chat<${Icon} name="external-link" /></a>
    </div>
    <p class="muted">chatguard notices it within seconds.</p>
  `;
}

/** @param {Of} props */
function Watch({ state, setup }) {
  const { messages, observed, since, mode } = setup;
  const would = mode === "enforce" ? "" : `, ${count.format(observed)} would have been throttled`;
  return html`
    <p>Watching since ${toMinute(Date.parse(since))}: ${count.format(messages)} ${messages === 1 ? "message" : "messages"}${would}.</p>
    <a class="button quiet" href=${linkTo(state, "limits")}>See the limits</a>
  `;
}

/** @param {Of & {is: string}} props */
function Enforce({ state, start, setup, is }) {
  if (is === "done") return html`<p>${setup.done ? "Messages beyond the limits are acted on." : "On. chatguard acts as soon as the bot is a moderator."}</p>`;
  const isReady = setup.steps.slice(0, 2).every((step) => step.state === "done");
  if (!isReady) return html`<p class="muted">Follows once the bot is a moderator. Until then nobody is throttled.</p>`;
  if (!start.isAsking) {
    return html`
      <p>Nobody is throttled yet: chatguard only observes.</p>
      <button type="button" id="enforce" class="primary" onClick=${() => confirm(true)}>Enforce…</button>`;
  }
  return html`
    <p>From now on, messages beyond the limits are deleted, and repeat offenders are warned or timed out. You can switch back on the page Limits. Enforce now?</p>
    <div class="together">
      <button type="button" id="enforce-now" class="primary" aria-disabled=${start.busy ? "true" : "false"} onClick=${() => enforce(state)}>Enforce</button>
      <button type="button" onClick=${() => confirm(false)}>Not yet</button>
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
    update((s) => (s.announcement = body.saved ? "The limits are enforced." : unsavedChange(status.database)));
    again();
  } catch (problem) {
    if (!ifSignedOut(problem)) change({ busy: false, problem: problem.message });
  }
}
