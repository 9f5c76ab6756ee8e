// @ts-check
// The sign-in page.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { signIn as post } from "../core/session.js";
import { Icon } from "../widgets/icon.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */

/** @param {{signIn: State["signIn"], onSignedIn: () => void}} props */
export function SignInPage({ signIn, onSignedIn }) {
  if (signIn.mounted) return html`<${Frame}><p class="banner" role="alert"><${Icon} name="alert" />${signIn.why || signIn.error}</p><//>`;
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = async (event) => {
    event.preventDefault();
    const token = String(new FormData(event.target).get("token")).trim();
    if (token && (await post({ token }))) onSignedIn();
  };
  return html`
    <${Frame}>
      ${signIn.why && html`<p class="banner" role="alert"><${Icon} name="alert" />${signIn.why}</p>`}
      <p class="muted">${rich("shell.sign-in-link", { command: html`<code>chatguard signin</code>` })}</p>
      <form onSubmit=${submit}>
        <input type="text" autocomplete="username" value="chatguard" readonly hidden />
        <label for="token">${t("shell.sign-in-token")}</label>
        <div class="together">
          <input id="token" name="token" type="password" autocomplete="current-password" spellcheck=${false} required
            aria-describedby="token-error" aria-invalid=${signIn.error ? "true" : "false"} />
          <button class="primary" disabled=${signIn.busy}>${t("shell.sign-in")}</button>
        </div>
        <p id="token-error" class="error" role="alert">${signIn.error}</p>
      </form>
    <//>
  `;
}

/** @param {{children?: View}} props */
function Frame({ children }) {
  return html`
    <main class="sign-in">
      <img src="favicon.svg" alt="" width="40" height="40" />
      <h1 class="title">${t("shell.sign-in-title")}</h1>
      ${children}
    </main>
  `;
}
