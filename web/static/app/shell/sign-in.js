// @ts-check
// The sign-in page.

import { loadTexts, rich, t } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { signIn as post } from "../core/session.js";
import { update } from "../core/state.js";
import { Icon } from "../widgets/icon.js";
import { Masthead } from "../widgets/masthead.js";
import { lazily, NotLoaded } from "./lazy.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */

/** @param {{state: State, onSignedIn: () => void}} props */
export function SignInPage({ state: { signIn, ways, device }, onSignedIn }) {
  useEffect(() => void askWays(), []);
  if (signIn.mounted) return html`<${Frame}><p class="banner" role="alert"><${Icon} name="alert" />${signIn.why || signIn.error}</p><//>`;
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = async (event) => {
    event.preventDefault();
    if (signIn.busy) return;
    const token = String(new FormData(event.target).get("token")).trim();
    if (!token) return update((s) => (s.signIn = { ...s.signIn, error: t("shell.no-token") }));
    if (await post({ token })) onSignedIn();
  };
  return html`
    <${Frame}>
      ${signIn.why && html`<p class="banner" role="alert"><${Icon} name="alert" />${signIn.why}</p>`}
      ${ways.twitch && html`<${WithTwitch} ways=${ways} device=${device} onSignedIn=${onSignedIn} />`}
      <p class="muted">${rich(ways.twitch ? "shell.sign-in-or-link" : "shell.sign-in-link", { command: html`<code>chatguard signin</code>` })}</p>
      <form novalidate onSubmit=${submit}>
        <input type="text" autocomplete="username" value="chatguard" readonly hidden />
        <label for="token">${t("shell.sign-in-token")}</label>
        <div class="together">
          <input id="token" name="token" type="password" autocomplete="current-password" spellcheck=${false}
            aria-describedby="token-error" aria-invalid=${signIn.error ? "true" : "false"} />
          <button class="primary" aria-disabled=${signIn.busy ? "true" : "false"}>${t("shell.sign-in")}</button>
        </div>
        <p id="token-error" class="error" role="alert">${signIn.error}</p>
      </form>
    <//>
  `;
}

// askWays asks how people can sign in. Without an answer, only links and tokens are offered.
async function askWays() {
  try {
    const { body } = await request("GET", "/sign-in");
    update((s) => (s.ways = body));
  } catch {
    update((s) => (s.ways = {}));
  }
}

const device = lazily(
  () => Promise.all([import("./device.js"), loadTexts("device")]).then(([m]) => m.Device),
  () => html`<${NotLoaded} title=${t("shell.sign-in-twitch")} />`,
  () => true,
);

// WithTwitch leads to Twitch, or shows a code to enter there.
/** @param {{ways: State["ways"], device: State["device"], onSignedIn: () => void}} props */
function WithTwitch({ ways, device: open, onSignedIn }) {
  if (open) return html`<${device()} device=${open} onSignedIn=${onSignedIn} />`;
  const label = t("shell.sign-in-twitch");
  return html`
    <div class="with-twitch">
      <p>${ways.address
        ? html`<a class="button primary" id="with-twitch" href=${ways.address}>${label}</a>`
        : html`<button type="button" class="primary" id="with-twitch" onClick=${() => update((s) => (s.device = { code: null, problem: "" }))}>${label}</button>`}</p>
      <p class="muted">${t("shell.sign-in-twitch-about")}</p>
    </div>
  `;
}

/** @param {{children?: View}} props */
function Frame({ children }) {
  return html`
    <main class="sign-in">
      <${Masthead} title=${t("shell.sign-in-title")} />
      ${children}
    </main>
  `;
}
