// One entry of the journal in a row: when, who, what they wrote, which limit, and what became of it.

import { html } from "../vendor/htm-preact.js";
import { nameOf } from "./amending.js";
import { deed } from "./deed.js";
import { PardonButton } from "./pardon-button.js";
import { linkTo } from "./route.js";
import { mayModerate, update } from "./state.js";
import { stamp } from "./time.js";

const clipped = 200; // more of a text is never seen in a row

// EntryRow shows the user only where they aren't known anyway, and times in the zone given, or else in the browser's. place is that of a row among many, from 0; its number is said to screen readers.
export function EntryRow({ state, entry, hasUser, zone, place, style, then }) {
  const { word, kind, detail } = deed(entry);
  return html`
    <div role="row" class="entry" aria-rowindex=${place === undefined ? null : place + 2} style=${style}>
      <time role="cell" class="when" datetime=${entry.at}>${stamp(Date.parse(entry.at), zone)}</time>
      ${hasUser && html`<span role="cell" class="user"><a href=${linkTo(state, "people", { user: entry.user_id })}><bdi>${nameOf(entry)}</bdi></a></span>`}
      <span role="cell" class="text"><${Text} entry=${entry} id=${place === 0 ? "first-entry" : null} /></span>
      <span role="cell" class="limit"><bdi>${entry.limit}</bdi></span>
      <span role="cell" class="deed ${kind}" title=${detail || null}>${word}${detail && html`<span class="detail">: ${detail}</span>`}</span>
      ${mayModerate() && html`<span role="cell" class="forgive"><${PardonButton} state=${state} entry=${entry} zone=${zone} then=${then} /></span>`}
    </div>
  `;
}

// Text opens the whole entry. id is null where nothing sends the focus to it.
function Text({ entry, id }) {
  const { text } = entry;
  const words = text ? html`<bdi>${text.slice(0, clipped)}</bdi>` : html`<span class="muted">no text kept</span>`;
  const open = () => update((s) => (s.entry = entry));
  return html`<button type="button" class="text-button" id=${id} aria-haspopup="dialog" onClick=${open}>${words}</button>`;
}
