// @ts-check
// The sign-in page.

import { html } from "../../vendor/htm-preact.js";
import { signIn as post } from "../core/session.js";
/** @import { State } from "../core/state.js" */

/** @param {{signIn: State["signIn"], onSignedIn: () => void}} props */
export function SignInPage({ signIn, onSignedIn }) {
  if (signIn.mounted) return html`<main class="sign-in"><h1>chatguard</h1><p role="alert">${signIn.why || signIn.error}</p></main>`;
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = async (event) => {
    event.preventDefault();
    const token = String(new FormData(event.target).get("token")).trim();
    if (token && (await post({ token }))) onSignedIn();
  };
  return html`
    <main class="sign-in">
      <h1>chatguard</h1>
      ${signIn.why && html`<p role="alert">${signIn.why}</p>`}
      <p>To sign in, run <code>chatguard signin</code> on chatguard’s server and open the link.</p>
      <form onSubmit=${submit}>
        <label for="token">Or sign in with a token</label>
        <input name="username" autocomplete="username" value="chatguard token" hidden />
        <div class="together">
          <input id="token" name="token" type="password" autocomplete="current-password" spellcheck="false" required
            aria-describedby="token-error" aria-invalid=${signIn.error ? "true" : "false"} />
          <button class="primary" disabled=${signIn.busy}>Sign in</button>
        </div>
        <p id="token-error" class="error" role="alert">${signIn.error}</p>
      </form>
    </main>
  `;
}
