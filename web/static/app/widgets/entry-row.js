// @ts-check
// One entry of the journal in a row: time, user, message, limit and outcome.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { mayHelp, nameOf, update } from "../core/state.js";
import { PardonButton } from "./pardon.js";
import { outcomeWords } from "../words/penalties.js";
import { repeatsBrief, repeatsWords } from "../words/repeats.js";
import { stamp } from "../words/time.js";
/** @import { State } from "../core/state.js" */

const clipped = 200; // characters; a row never shows more

// entryRow returns the view of an entry. hasUser adds the user. place is the row's index in a long
// table, for screen readers. It isn't a component: if several rows were removed, Preact would move
// all rows below them.
/**
 * @param {{state: State, entry: Api.Entry, hasUser?: boolean, place?: number, style?: object, then?: () => void}} of
 */
export function entryRow({ state, entry, hasUser, place, style, then }) {
  const { word, kind, detail } = outcomeWords(entry);
  return html`
    <div key=${entry.id} role="row" class="entry" aria-rowindex=${place === undefined ? null : place + 2} style=${style}>
      <time role="cell" class="when" datetime=${entry.at}>${stamp(Date.parse(entry.at))}</time>
      ${hasUser && html`<span role="cell" class="user"><a href=${linkTo(state, "people", { user: entry.user_id })}><bdi>${nameOf(entry)}</bdi></a></span>`}
      <span role="cell" class="text"><${Text} entry=${entry} id=${place === 0 ? "first-entry" : null} /><${Repeated} of=${entry.repeats} /></span>
      <span role="cell" class="limit"><bdi>${entry.limit}</bdi></span>
      <span role="cell" class="deed" title=${detail ? `${word}: ${detail}` : word}><span class="chip ${kind}">${word}</span>${detail && html`<span class="detail muted"> ${detail}</span>`}</span>
      ${mayHelp() && html`<span role="cell" class="forgive"><${PardonButton} state=${state} entry=${entry} then=${then} /></span>`}
    </div>
  `;
}

// Text is a button that opens the entry's dialog. id is null if nothing moves the focus to it.
/** @param {{entry: Api.Entry, id: string | null}} props */
function Text({ entry, id }) {
  const { text } = entry;
  const words = text ? html`<bdi>${text.slice(0, clipped)}</bdi>` : html`<span class="muted">${t("words.no-text")}</span>`;
  const open = () => update((s) => (s.entry = entry));
  return html`<button type="button" class="text-button" id=${id} aria-haspopup="dialog" onClick=${open}>${words}</button>`;
}

/** @param {{of?: Api.Entry["repeats"]}} props */
const Repeated = ({ of }) => of && html`<span class="repeated muted" title=${repeatsWords(of)}>${repeatsBrief(of)}</span>`;
