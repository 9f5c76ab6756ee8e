// @ts-check
// The dialog in which the bot's account is connected: a code to enter on Twitch.

import { rich, t } from "../../text/text.js";
import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { now, state, update } from "../core/state.js";
import { ClientIDGuide, wrongClientID } from "./client-id.js";
import { again } from "./setup.js";
import { Copy } from "../widgets/copy.js";
import { Icon } from "../widgets/icon.js";
import { wait } from "../words/time.js";
/** @import { State } from "../core/state.js" */

/**
 * Login is chatguard's answer about the latest login of the bot's account.
 * @typedef {object} Login
 * @property {"none" | "waiting" | "done" | "failed"} state
 * @property {string} [user_code]
 * @property {string} [address]
 * @property {string} [expires]
 * @property {{size: number, path: string}} [qr]
 * @property {string} [account]
 * @property {string} [replaced]
 * @property {string} [problem]
 * @property {boolean} [needs_client_id]
 * @property {string} [console]
 */

/**
 * Connecting is the state of the dialog.
 * @typedef {object} Connecting
 * @property {Login | null} login null before the first answer
 * @property {boolean} asksID whether the person is asked for a client ID
 * @property {boolean} busy
 * @property {string} problem why chatguard refused
 */

const pause = 1500; // between two questions about a login in progress, ms

let timer = 0;

/** @param {Partial<Connecting>} news */
function change(news) {
  update((s) => s.connecting && (s.connecting = { ...s.connecting, ...news }));
}

// open opens the dialog. A login in progress continues; otherwise a new one begins, if chatguard
// knows the application.
export async function open() {
  update((s) => (s.connecting = { login: null, asksID: false, busy: true, problem: "" }));
  const login = await send("GET");
  if (!login) return;
  if (login.state === "waiting") return take(login);
  if (login.needs_client_id) return change({ login, asksID: true, busy: false });
  change({ login: { state: "none", console: login.console } });
  begin();
}

// begin starts a login.
/** @param {string} [clientID] */
async function begin(clientID) {
  change({ busy: true, problem: "" });
  const login = await send("POST", clientID ? { client_id: clientID } : {});
  if (login) take(login);
}

// send sends a request about the login. It returns null if chatguard refused it.
/** @param {string} method @param {object} [body] @returns {Promise<Login | null>} */
async function send(method, body) {
  try {
    return (await request(method, "/login", { body })).body;
  } catch (problem) {
    if (!ifSignedOut(problem)) change({ busy: false, problem: problem.message, asksID: state.connecting?.asksID || problem.status === 422 });
    return null;
  }
}

// take shows an answer, and asks again until the login has ended.
/** @param {Login} login */
function take(login) {
  if (!state.connecting) return; // closed meanwhile
  change({ login, busy: false, problem: "", asksID: false });
  clearTimeout(timer);
  if (login.state !== "waiting") return again();
  timer = setTimeout(async () => {
    const next = await send("GET");
    if (next) take(next);
  }, pause);
}

// close closes the dialog. A login in progress is canceled.
function close() {
  clearTimeout(timer);
  if (state.connecting?.login?.state === "waiting") request("DELETE", "/login").catch(() => {}); // it expires by itself
  update((s) => {
    s.connecting = null;
    s.focus = "connect";
  });
}

/** @param {{state: State}} props */
export function LoginDialog({ state }) {
  return state.connecting && html`<${Dialog} connecting=${state.connecting} />`;
}

/** @param {{connecting: Connecting}} props */
function Dialog({ connecting }) {
  const dialog = useRef(null);
  useLayoutEffect(() => {
    dialog.current.showModal();
    return () => clearTimeout(timer);
  }, []);
  return html`
    <dialog class="connect" ref=${dialog} aria-labelledby="connect-title" onClose=${close}>
      <div class="connect-head">
        <h2 id="connect-title" class="headline">${t("start.connect")}</h2>
        <button type="button" class="icon-only" aria-label=${t("shell.close")} title=${t("shell.close")} onClick=${() => dialog.current.close()}><${Icon} name="close" /></button>
      </div>
      <${Content} connecting=${connecting} close=${() => dialog.current.close()} />
    </dialog>
  `;
}

/** @param {{connecting: Connecting, close: () => void}} props */
function Content({ connecting, close }) {
  const { login, asksID, problem } = connecting;
  if (asksID) return html`<${AskID} connecting=${connecting} />`;
  if (problem) return html`<p role="alert" class="error">${problem}</p><${Again} />`;
  switch (login?.state) {
    case "waiting":
      return html`<${Waiting} login=${login} close=${close} />`;
    case "done":
      return html`<${Done} login=${login} close=${close} />`;
    case "failed":
      return html`<p role="alert" class="error">${login.problem}</p><${Again} />`;
  }
  return html`<p class="muted" role="status">${t("start.asking")}</p>`;
}

const Again = () => html`<div class="buttons"><button type="button" class="primary" onClick=${() => begin()}>${t("start.new-code")}</button></div>`;

/** @param {{connecting: Connecting}} props */
function AskID({ connecting: { login, problem, busy } }) {
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = (event) => {
    event.preventDefault();
    const id = String(new FormData(event.target).get("client")).trim();
    const wrong = wrongClientID(id);
    if (wrong) change({ problem: wrong });
    else if (!busy) begin(id);
  };
  return html`
    <p>${t("start.client-about")}</p>
    <${ClientIDGuide} page=${login?.console ?? "https://dev.twitch.tv/console/apps/create"} />
    <form onSubmit=${submit} novalidate>
      <label for="client-id">${t("start.client-id")}</label>
      <div class="together">
        <input id="client-id" name="client" autocomplete="off" spellcheck=${false} aria-describedby="client-id-error" aria-invalid=${problem ? "true" : "false"} />
        <button class="primary" aria-disabled=${busy ? "true" : "false"}>${t("start.continue")}</button>
      </div>
      <p id="client-id-error" class="error" role="alert">${problem}</p>
    </form>
  `;
}

/** @param {{login: Login, close: () => void}} props */
function Waiting({ login, close }) {
  const left = Math.max(0, Math.ceil((Date.parse(login.expires) - now()) / 1000));
  return html`
    <div class="device">
      ${login.qr && html`<${Code} qr=${login.qr} />`}
      <div>
        <p role="status">${rich("start.open-how", { account: html`<strong>${t("start.open-account")}</strong>` })}</p>
        <p class="user-code"><code>${login.user_code}</code><${Copy} text=${login.user_code} label=${t("start.copy-code")} /></p>
        <p><a class="button primary" id="open-twitch" href=${login.address} target="_blank" rel="noreferrer">${t("start.open-twitch")}<${Icon} name="external-link" /></a></p>
        <p class="muted">${t("start.waiting", { time: wait(left * 1000) })}</p>
      </div>
    </div>
    ${login.problem && html`<p class="warn-text">${login.problem}</p>`}
    <p class="muted">${t("start.bot-about")}</p>
    <div class="buttons"><button type="button" onClick=${close}>${t("shell.cancel")}</button></div>
  `;
}

// Code draws a QR code; it is dark on light in both themes, as cameras expect.
/** @param {{qr: {size: number, path: string}}} props */
function Code({ qr: { size, path } }) {
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label=${t("start.qr")} shape-rendering="crispEdges"><rect width=${size} height=${size} fill="#fff" /><path d=${path} fill="#000" /></svg>`;
}

/** @param {{login: Login, close: () => void}} props */
function Done({ login, close }) {
  const account = html`<strong><bdi>${login.account}</bdi></strong>`;
  return html`
    <p role="status" class="connected"><${Icon} name="check" /><span>${login.replaced ? rich("start.connected-instead", { account, replaced: html`<bdi>${login.replaced}</bdi>` }) : rich("start.connected", { account })}</span></p>
    ${login.problem && html`<p class="warn-text">${login.problem}</p>`}
    <p class="muted">${t("start.wrong-account")}</p>
    <div class="buttons">
      <button type="button" id="connected" class="primary" onClick=${close}>${t("start.continue")}</button>
      <button type="button" onClick=${() => begin()}>${t("start.connect-another")}</button>
    </div>
  `;
}
