// One entry of the journal, whole.

import { html, useLayoutEffect, useRef } from "../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { nameOf } from "./amending.js";
import { deed } from "./deed.js";
import { PardonButton } from "./pardon-button.js";
import { penaltyWords } from "./penalty-words.js";
import { linkTo } from "./route.js";
import { shownID, update } from "./state.js";
import { stamp } from "./time.js";

// EntryDialog writes times in the zone given, or else in the browser's.
export function EntryDialog({ state, zone }) {
  return state.entry && html`<${Dialog} key=${state.entry.id} state=${state} entry=${state.entry} zone=${zone} />`;
}

const forget = () => update((s) => (s.entry = null));

function Dialog({ state, entry, zone }) {
  const dialog = useRef(null);
  useLayoutEffect(() => {
    dialog.current.showModal();
    return forget; // another page may be shown
  }, []);
  const { word, kind, detail } = deed(entry);
  const close = () => dialog.current.close(); // which gives the focus back
  return html`
    <dialog class="whole-entry" ref=${dialog} aria-labelledby="entry-of" onClose=${forget} onClick=${(event) => event.target === dialog.current && close()}>
      <div>
        <h2 id="entry-of">Message of <a href=${linkTo(state, "people", { user: entry.user_id })} onClick=${close}><bdi>${nameOf(entry)}</bdi></a></h2>
        <p class="whole-text"><bdi>${entry.text || "No text is kept."}</bdi></p>
        <dl>
          <${Fact} name="Written">${stamp(Date.parse(entry.at), zone)}<//>
          <${Fact} name="User">${entry.login && html`<bdi>${entry.login}</bdi>, `}ID ${shownID(entry.user_id)}<//>
          <${Fact} name="Limit"><bdi>${entry.limit}</bdi>${entry.cost > 1 && `, at a cost of ${amount(entry.cost)}`}<//>
          <${Fact} name="Could pass">${mayPass(entry, zone)}<//>
          <${Fact} name="Strikes then">${entry.strikes}<//>
          <${Fact} name="Penalty due">${penaltyWords(entry.penalty)}<//>
          <${Fact} name="Done"><span class=${kind}>${word}</span>${detail && `: ${detail}`}<//>
          ${entry.pardoned && html`<${Fact} name="Pardoned">by <bdi>${entry.pardoned.by}</bdi>, ${stamp(Date.parse(entry.pardoned.at), zone)}<//>`}
        </dl>
        <div class="buttons"><${PardonButton} state=${state} entry=${entry} /><button type="button" onClick=${close}>Close</button></div>
      </div>
    </dialog>
  `;
}

function Fact({ name, children }) {
  return html`<div><dt>${name}</dt><dd>${children}</dd></div>`;
}

function mayPass({ may_speak_at: at }, zone) {
  return Date.parse(at) > 0 ? stamp(Date.parse(at), zone) : "never: it costs more than the limit holds";
}
