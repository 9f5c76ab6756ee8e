// @ts-check
// A button that sends a message. Holding it repeats.

import { html, useRef } from "../vendor/htm-preact.js";
import { clock, send } from "./player.js";
/** @import { View } from "../vendor/htm-preact.js" */

const repeatAfter = 400, repeatEvery = 100; // ms

/** @param {{lane?: number, label?: string, keys: string, isPrimary?: boolean, children?: View}} props */
export function Sender({ lane, label, keys, isPrimary, children }) {
  const timer = useRef(0);
  const stop = () => clearTimeout(timer.current);
  const repeat = () => {
    send(clock.now(), lane);
    timer.current = window.setTimeout(repeat, repeatEvery);
  };
  /** @param {PointerEvent} event */
  const press = (event) => {
    if (event.button !== 0) return;
    send(clock.timeOf(event), lane);
    timer.current = window.setTimeout(repeat, repeatAfter);
  };
  // A click without a pointer is that of a key or of a screen reader.
  /** @param {MouseEvent} event */
  const click = (event) => event.detail === 0 && send(clock.timeOf(event), lane);
  return html`
    <button type="button" class=${isPrimary ? "primary send" : "send"} onPointerDown=${press} onPointerUp=${stop} onPointerLeave=${stop} onPointerCancel=${stop} onClick=${click}>
      ${children}${label && html`<span class="unseen"> ${label}</span>`}${keys && html`<kbd aria-hidden="true">${keys}</kbd>`}
    </button>
  `;
}
