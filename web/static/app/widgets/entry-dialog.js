// @ts-check
// The dialog with all details of one journal entry.

import { rich, t } from "../../text/text.js";
import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { loginOf, nameOf, shownID, update } from "../core/state.js";
import { PardonButton, pardonedBy } from "./pardon.js";
import { outcomeWords, penaltyWords } from "../words/penalties.js";
import { repeatsWords } from "../words/repeats.js";
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
  const { word, kind, detail } = outcomeWords(entry), { repeats } = entry;
  const close = () => dialog.current.close(); // this also returns the focus
  const who = html`<a href=${linkTo(state, "people", { user: entry.user_id })} onClick=${close}><bdi>${nameOf(entry)}</bdi></a>`;
  return html`
    <dialog class="whole-entry" ref=${dialog} aria-labelledby="entry-of" onClose=${forget} onClick=${(event) => event.target === dialog.current && close()}>
      <div>
        <h2 id="entry-of">${rich("entries.title", { who })}</h2>
        <p class="whole-text"><bdi>${entry.text || t("entries.no-text")}</bdi></p>
        <dl>
          <${Fact} name=${t("entries.sent")}>${stamp(Date.parse(entry.at))}<//>
          <${Fact} name=${t("entries.user")}>${userOf(entry)}<//>
          <${Fact} name=${t("entries.limit")}>${limitOf(entry)}<//>
          ${repeats && html`<${Fact} name=${t("entries.repeats")}>${repeatsWords(repeats)}<//>`}
          <${Fact} name=${t(repeats ? "entries.may-be-written" : "entries.may-write")}>${mayPass(entry)}<//>
          <${Fact} name=${t("entries.strikes")}>${entry.strikes}<//>
          <${Fact} name=${t("entries.penalty")}>${penaltyWords(entry.penalty)}<//>
          <${Fact} name=${t("entries.action")}><span class="chip ${kind}">${word}</span>${detail && ` ${detail}`}<//>
          ${entry.pardoned && html`<${Fact} name=${t("entries.pardoned")}>${pardonedBy(entry.pardoned)}<//>`}
        </dl>
        <div class="buttons"><${PardonButton} state=${state} entry=${entry} /><button type="button" onClick=${close}>${t("widgets.close")}</button></div>
      </div>
    </dialog>
  `;
}

/** @param {{name: string, children: View}} props */
function Fact({ name, children }) {
  return html`<div><dt>${name}</dt><dd>${children}</dd></div>`;
}

/** @param {Api.Entry} entry */
function userOf(entry) {
  const login = loginOf(entry), id = shownID(entry.user_id);
  return login ? rich("entries.login-id", { login: html`<bdi>${login}</bdi>`, id }) : t("entries.id", { id });
}

/** @param {Api.Entry} of */
function limitOf({ limit, cost }) {
  const name = html`<bdi>${limit}</bdi>`;
  return cost > 1 ? rich("entries.limit-cost", { n: cost, limit: name }) : name;
}

/** @param {Api.Entry} of */
function mayPass({ may_speak_at: at }) {
  return Date.parse(at) > 0 ? stamp(Date.parse(at)) : t("entries.never");
}
