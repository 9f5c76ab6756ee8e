// @ts-check
// The dialog with all details of one journal entry.

import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { loginOf, nameOf, shownID, update } from "../core/state.js";
import { PardonButton } from "./pardon.js";
import { amount } from "../words/algorithms.js";
import { outcomeWords, penaltyWords } from "../words/penalties.js";
import { stamp } from "../words/time.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */

/** @param {{state: State}} props */
export function EntryDialog({ state }) {
  return state.entry && html`<${Dialog} key=${state.entry.id} state=${state} entry=${state.entry} />`;
}

const forget = () => update((s) => (s.entry = null));

/** @param {{state: State, entry: Api.Entry}} props */
function Dialog({ state, entry }) {
  const dialog = useRef(null);
  useLayoutEffect(() => {
    dialog.current.showModal();
    return forget; // the page may change while the dialog is open
  }, []);
  const { word, kind, detail } = outcomeWords(entry);
  const close = () => dialog.current.close(); // this also returns the focus
  return html`
    <dialog class="whole-entry" ref=${dialog} aria-labelledby="entry-of" onClose=${forget} onClick=${(event) => event.target === dialog.current && close()}>
      <div>
        <h2 id="entry-of">Message from <a href=${linkTo(state, "people", { user: entry.user_id })} onClick=${close}><bdi>${nameOf(entry)}</bdi></a></h2>
        <p class="whole-text"><bdi>${entry.text || "Text not stored."}</bdi></p>
        <dl>
          <${Fact} name="Sent">${stamp(Date.parse(entry.at))}<//>
          <${Fact} name="User">${loginOf(entry) && html`<bdi>${loginOf(entry)}</bdi>, `}ID ${shownID(entry.user_id)}<//>
          <${Fact} name="Limit"><bdi>${entry.limit}</bdi>${entry.cost > 1 && `, cost ${amount(entry.cost)}`}<//>
          <${Fact} name="May write again">${mayPass(entry)}<//>
          <${Fact} name="Strikes">${entry.strikes}<//>
          <${Fact} name="Penalty">${penaltyWords(entry.penalty)}<//>
          <${Fact} name="Action"><span class="chip ${kind}">${word}</span>${detail && ` ${detail}`}<//>
          ${entry.pardoned && html`<${Fact} name="Pardoned">by <bdi>${entry.pardoned.by}</bdi>, ${stamp(Date.parse(entry.pardoned.at))}<//>`}
        </dl>
        <div class="buttons"><${PardonButton} state=${state} entry=${entry} /><button type="button" onClick=${close}>Close</button></div>
      </div>
    </dialog>
  `;
}

/** @param {{name: string, children: View}} props */
function Fact({ name, children }) {
  return html`<div><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** @param {Api.Entry} of */
function mayPass({ may_speak_at: at }) {
  return Date.parse(at) > 0 ? stamp(Date.parse(at)) : "never: the cost exceeds the limit";
}
