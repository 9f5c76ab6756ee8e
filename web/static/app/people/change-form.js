// @ts-check
// Changing the user whose card is shown: the buttons, the form that one of them opens, and the
// outcome.

import { html, useEffect, useRef } from "../../vendor/htm-preact.js";
import { exemptLengths, grantable, kindOf, mayUndo, noticeOf, outcomeOf, resetWarning } from "../changes/user.js";
import { mayAct, shownID } from "../core/state.js";
import { close, edit, isConflict, open, pardon, submit, undo } from "./form.js";
import { OverrideFields } from "./override-fields.js";
import { LimitField } from "../widgets/field.js";
import { banWarning, giver, liftNames, timeoutLengths } from "../words/silence.js";
/** @import { Outcome } from "../changes/user.js" */
/** @import { Database, State } from "../core/state.js" */
/** @import { Kind } from "./form.js" */
/** @import { Card, Person } from "./people.js" */

const kinds = {
  timeout: { name: "Time out…", does: "Time out", title: "Time out in the chat", Fields: TimeoutFields },
  ban: { name: "Ban…", does: "Ban", title: "Ban from the chat", Fields: BanFields },
  lift: { name: "", does: "", title: "End the timeout or ban", Fields: LiftQuestion },
  grant: { name: "Grant…", does: "Grant", title: "Grant extra messages", Fields: GrantFields },
  exempt: { name: "Exempt…", does: "Exempt", title: "Exempt from all limits", Fields: ExemptFields },
  reset: { name: "Reset…", does: "Reset", title: "Reset", Fields: ResetQuestion },
  override: { name: "Custom limits…", does: "Save", title: "Custom limits, time zone and exemption", Fields: OverrideFields },
};

// isPossible reports whether a user can be changed in this way now.
/** @param {Kind} kind @param {Card} card */
function isPossible(kind, card) {
  switch (kind) {
    case "grant":
      return grantable(card).length > 0;
    case "timeout": case "ban":
      return mayAct() && !card.silenced?.banned;
    case "lift":
      return mayAct() && Boolean(card.silenced);
  }
  return true;
}

/** @param {{state: State, person: Person}} props */
export function UserButtons({ state, person }) {
  const { id, form, card } = person;
  const outcome = state.changes[id] ?? outcomeOf({});
  const possible = Object.entries(kinds).filter(([kind]) => isPossible(/** @type {Kind} */ (kind), card));
  return html`
    <div class="amends">
      <div class="buttons" role="group" aria-label="Change this user">
        ${card.entries.length > 0 && html`
          <button type="button" id="amend-pardon" aria-label="Pardon ${(card.login || card.user_id).slice(0, 50)}" onClick=${pardon}>Pardon</button>`}
        ${possible.map(([kind, { name }]) => html`
          <button type="button" id=${`amend-${kind}`} aria-expanded=${form?.kind === kind ? "true" : "false"} onClick=${() => open(/** @type {Kind} */ (kind))}>${name || `${liftNames(card.silenced).button}…`}</button>
        `)}
      </div>
      ${form && html`<${ChangeForm} key=${form.kind} person=${person} outcome=${outcome} />`}
      <div role="status">${!(form && outcome.problem) && html`<${OutcomeNote} outcome=${outcome} mayUndo=${mayUndo(outcome, card)} database=${state.status?.database} />`}</div>
    </div>
  `;
}

// ChangeForm gets the focus when it opens. When it closes, the focus returns to its button.
/** @param {{person: Person, outcome: Outcome}} props */
function ChangeForm({ person, outcome: { busy, problem } }) {
  const { form, card } = person;
  const { title, does, Fields } = kinds[form.kind];
  const place = useRef(null);
  useEffect(() => {
    const opened = place.current;
    opened.querySelector("input, select, button").focus();
    return () => {
      const focused = document.activeElement;
      if (opened.contains(focused) || focused === document.body) document.getElementById(`amend-${form.kind}`)?.focus();
    };
  }, []);
  /** @param {Event} event */
  const onSubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return html`
    <form class="amend" ref=${place} aria-label=${title} novalidate onSubmit=${onSubmit} onKeyDown=${(event) => event.key === "Escape" && close()}>
      <${Fields} person=${person} isBusy=${busy} />
      <p class="error" role="alert">${problem}</p>
      <div class="buttons">
        <button class="primary" aria-disabled=${busy || Object.keys(form.errors).length > 0 ? "true" : "false"}>${isConflict() && form.kind === "timeout" ? "Time out anyway" : does || liftNames(card.silenced).button}</button>
        <button type="button" onClick=${close}>Cancel</button>
      </div>
    </form>
  `;
}

/** @param {{outcome: Outcome, mayUndo: boolean, database?: Database}} props */
function OutcomeNote({ outcome, mayUndo, database }) {
  const notice = noticeOf(outcome, database);
  return notice && html`
    <p class="note ${kindOf(outcome)}">
      <span>${notice}</span>
      ${mayUndo && html`<button type="button" onClick=${undo}>Undo</button>`}
    </p>
  `;
}

/** @param {{person: Person, isBusy: boolean}} props */
function TimeoutFields({ person: { form }, isBusy }) {
  const { length, reason } = form.draft;
  return html`
    <div class="tabs" role="group" aria-label="Usual durations">
      ${timeoutLengths.map((usual) => html`
        <button type="button" aria-pressed=${usual.length === length ? "true" : "false"} onClick=${() => edit({ length: usual.length })}>${usual.name}</button>`)}
    </div>
    <div class="fields">
      <${LimitField} id="timeout-length" label="Duration" isText=${true} hint="10m, 1h30m, 2d" value=${length} fixed=${isBusy} error=${form.errors.length}
        onInput=${(text) => edit({ length: text })} />
      <${Reason} reason=${reason} isBusy=${isBusy} />
    </div>
  `;
}

/** @param {{person: Person, isBusy: boolean}} props */
function BanFields({ person: { form, card }, isBusy }) {
  return html`
    <p>Ban <bdi>${card.login || shownID(card.user_id)}</bdi> permanently? ${banWarning}</p>
    <div class="fields"><${Reason} reason=${form.draft.reason} isBusy=${isBusy} /></div>
  `;
}

/** @param {{reason: string, isBusy: boolean}} props */
function Reason({ reason, isBusy }) {
  return html`<${LimitField} id="act-reason" label="Reason (optional)" isText=${true} value=${reason} fixed=${isBusy} onInput=${(text) => edit({ reason: text })} />`;
}

/** @param {{person: Person}} props */
function LiftQuestion({ person: { card } }) {
  const { silenced } = card;
  return html`<p>${liftNames(silenced).asks} <bdi>${card.login || shownID(card.user_id)}</bdi>?${silenced?.by && html` It was given by <bdi>${giver(silenced.by)}</bdi>.`}</p>`;
}

/** @param {{person: Person, isBusy: boolean}} props */
function GrantFields({ person: { form, card }, isBusy }) {
  const { messages, limit } = form.draft;
  return html`
    <div class="fields">
      <${LimitField} id="grant-messages" label="Extra messages" unit="messages" value=${messages} fixed=${isBusy} error=${form.errors.messages}
        onInput=${(text) => edit({ messages: text })} />
      <div class="field">
        <label for="grant-limit">Limit</label>
        <select id="grant-limit" value=${limit} onChange=${(event) => edit({ limit: event.target.value })}>
          ${grantable(card).map(({ name }) => html`<option value=${name} selected=${name === limit}>${name}</option>`)}
        </select>
      </div>
    </div>
    <p class="muted">Extra messages are used after the regular ones. They expire with the limit’s window or the user’s day.</p>
  `;
}

/** @param {{person: Person}} props */
function ExemptFields({ person: { form, card } }) {
  return html`
    <div class="field">
      <label for="exempt-length">Duration</label>
      <select id="exempt-length" value=${form.draft.length} onChange=${(event) => edit({ length: event.target.value })}>
        ${exemptLengths(card).map(({ length, name }) => html`<option value=${length} selected=${length === form.draft.length}>${name}</option>`)}
      </select>
    </div>
  `;
}

/** @param {{person: Person}} props */
function ResetQuestion({ person: { card } }) {
  return html`<p>Reset <bdi>${card.login || shownID(card.user_id)}</bdi>? ${resetWarning}</p>`;
}
