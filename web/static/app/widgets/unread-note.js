// @ts-check
// The note that the channel shown isn't read. Its words are loaded only if it isn't.

import { loadTexts } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { channelName, update } from "../core/state.js";
import { withCode } from "../words/code.js";
/** @import { State } from "../core/state.js" */

/** @type {typeof import("../words/unread.js").unreadWords | null} */
let unreadWords = null;
let loading = false;

async function load() {
  if (loading) return;
  loading = true;
  try {
    const [module] = await Promise.all([import("../words/unread.js"), loadTexts("unread")]);
    update(() => (unreadWords = module.unreadWords));
  } catch {
    loading = false; // the next drawing tries again
  }
}

// UnreadNote is always drawn, because a screen reader announces changes only in elements that it
// knows. It is empty while the channel is read or being joined. The detail may change with each
// try, so it is outside the announced element.
/** @param {{state: State}} props */
export function UnreadNote({ state: { channels, channel } }) {
  const shown = channels.find(({ id }) => id === channel);
  const unread = shown?.unread?.reason !== "joining" && shown?.unread;
  if (unread && !unreadWords) load();
  const words = unread && unreadWords?.(unread, channelName(shown));
  return html`
    <div class="unread-note ${words ? "away" : ""}">
      <div role="status">${words && html`<p><strong class="bad">${words.lead}</strong> ${words.what}</p><p>${words.todo}</p>`}</div>
      ${words && words.detail && html`<p class="muted">${withCode(words.detail)}</p>`}
    </div>
  `;
}
