// @ts-check
// A modal dialog. It has the focus while it is open, and then returns it.

import { t } from "../../text/text.js";
import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { Icon } from "./icon.js";
/** @import { View } from "../../vendor/htm-preact.js" */

// Dialog calls onClose after it was closed: by its button, by Escape, or by a click beside it.
/** @param {{label: string, name: string, isBare?: boolean, onClose: () => void, children?: View}} props */
export function Dialog({ label, name, isBare, onClose, children }) {
  const dialog = useRef(null);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened.showModal();
    return () => opened.close(); // also if another dialog replaces it
  }, []);
  const close = () => dialog.current.close(); // this also returns the focus
  return html`
    <dialog class="dialog ${name}-dialog" ref=${dialog} aria-label=${label} onClose=${onClose} onClick=${(event) => event.target === dialog.current && close()}>
      <div class="inside">
        ${!isBare && html`
          <div class="dialog-head">
            <h2 class="headline">${label}</h2>
            <button type="button" class="icon-only" aria-label=${t("widgets.close")} title=${t("widgets.close")} onClick=${close}><${Icon} name="close" /></button>
          </div>`}
        ${children}
      </div>
    </dialog>
  `;
}
