// @ts-check
// A question before something ends. Its harmless answer gets the focus. When it closes, the focus
// returns to the button that opened it.

import { html, useLayoutEffect } from "../../vendor/htm-preact.js";
import { useEscape } from "../core/escape.js";
import { update } from "../core/state.js";
/** @import { View } from "../../vendor/htm-preact.js" */

/**
 * Question is answered by one of two buttons, yes and no. opener is the ID of the button that
 * opened it.
 * @param {{label: string, opener: string, yes: string, no: string, isBusy?: boolean, act: () => void, close: () => void, children?: View}} props
 */
export function Question({ label, opener, yes, no, isBusy, act, close, children }) {
  const place = useEscape(close, opener);
  useLayoutEffect(() => place.current.querySelector("button:last-child").focus(), []);
  const keep = () => {
    close();
    update((s) => (s.focus = opener));
  };
  return html`
    <p class="together asked" role="group" aria-label=${label} ref=${place}>
      <span>${children}</span>
      <button type="button" class="danger" aria-disabled=${isBusy ? "true" : "false"} onClick=${act}>${yes}</button>
      <button type="button" onClick=${keep}>${no}</button>
    </p>
  `;
}
