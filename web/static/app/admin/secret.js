// @ts-check
// A secret that chatguard shows only once.

import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { Copy } from "../widgets/copy.js";

/**
 * Secret gets the focus, so that a screen reader reads it. hint says what to do with the secret,
 * copy labels the button that copies it, and done is the button that forgets it.
 * @param {{title: string, hint: string, secret: string, copy: string, done: string, close: () => void}} props
 */
export function Secret({ title, hint, secret, copy, done, close }) {
  const whole = useRef(null);
  useLayoutEffect(() => whole.current.focus(), [secret]);
  return html`
    <div class="new-secret" role="group" tabindex="-1" ref=${whole} aria-labelledby="new-secret-title">
      <h3 id="new-secret-title"><bdi>${title}</bdi></h3>
      <p>${hint}</p>
      <div class="copyable"><code>${secret}</code><${Copy} text=${secret} label=${copy} /></div>
      <button type="button" onClick=${close}>${done}</button>
    </div>
  `;
}
