// @ts-check
// Changing the user whose card is shown: the buttons, the form that one of them opens, and the
// outcome.

import { rich, t } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { exemptLengths, grantable, kindOf, mayUndo, noticeOf, outcomeOf, problemOf, resetWarning } from "../changes/user.js";
import { useEscape } from "../core/escape.js";
import { useWarning } from "../core/leaving.js";
import { mayAct, mayModerate, nameOf, timeoutsHere } from "../core/state.js";
import { cancel, close, edit, isConflict, liftedBy, open, pardon, silenceOf, submit, timeOutFor, undo, whyEnded, whyNot } from "./form.js";
import { OverrideFields } from "./override-fields.js";
import { LimitField } from "../widgets/field.js";
import { banWarning, liftNames, liftQuestion, timeoutsByLength } from "../words/silence.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Outcome } from "../changes/user.js" */
/** @import { Database, State } from "../core/state.js" */
/** @import { Kind } from "./form.js" */
/** @import { Card, Person } from "./people.js" */

/**
 * kinds maps each change to the keys of its button, of the button that sends it and of its form. The
 * end of a timeout or ban has other buttons.
 * @type {Record<Kind, {name?: TextKey, does?: TextKey, title: TextKey, Fields: (props: {person: Person, isBusy: boolean}) => View}>}
 */
const kinds = {
  timeout: { name: "now.timeout", does: "now.timeout-it", title: "people.timeout", Fields: TimeoutFields },
  ban: { name: "now.ban", does: "now.ban-it", title: "people.ban", Fields: BanFields },
  lift: { title: "people.lift", Fields: LiftQuestion },
  grant: { name: "now.grant", does: "now.grant-it", title: "people.grant", Fields: GrantFields },
  exempt: { name: "now.exempt", does: "people.exempt-it", title: "people.exempt", Fields: ExemptFields },
  reset: { name: "now.reset", does: "now.reset-it", title: "now.reset-it", Fields: ResetQuestion },
  override: { name: "people.override-open", does: "people.save", title: "people.override", Fields: OverrideFields },
};

// isOffered reports whether the signed-in person can change users in this way.
/** @param {Kind} kind @param {Card} card */
function isOffered(kind, card) {
  switch (kind) {
    case "grant":
      return grantable(card).length > 0;
    case "timeout": case "ban": case "lift":
      return mayAct();
    case "override":
      return mayModerate();
  }
  return true;
}

/** @param {{state: State, person: Person}} props */
export function UserButtons({ state, person }) {
  const { id, form, card } = person;
  const known = state.changes[id] ?? outcomeOf({}), outcome = { ...known, problem: problemOf(known, silenceOf(card, known)) };
  const offered = /** @type {[Kind, typeof kinds[Kind]][]} */ (Object.entries(kinds)).filter(([kind]) => isOffered(kind, card));
  const unpardonable = card.entries.length > 0 ? "" : t("now.pardon-nothing");
  return html`
    <div class="amends">
      <div class="buttons" role="group" aria-label=${t("people.change")}>
        <button type="button" id="amend-pardon" aria-label=${t("now.pardon-user", { who: nameOf(card) })} title=${unpardonable || null}
          aria-disabled=${unpardonable ? "true" : null} onClick=${() => unpardonable || pardon()}>${t("now.pardon")}</button>
        ${offered.map(([kind, { name }]) => html`<${Opener} kind=${kind} name=${name ? t(name) : html`<${LiftName} card=${card} />`} isOpen=${form?.kind === kind} why=${whyNot(kind, card)} />`)}
      </div>
      ${form && html`<${ChangeForm} key=${form.kind} person=${person} outcome=${outcome} />`}
      <div role="status">${!(form && outcome.problem) && html`<${OutcomeNote} outcome=${outcome} mayUndo=${mayUndo(outcome, card)} database=${state.status?.database} />`}</div>
    </div>
  `;
}

// LiftName has room for both its names, so that the buttons beside it stay in place.
/** @param {{card: Card}} props */
function LiftName({ card }) {
  const { opener, other } = liftNames(card.silenced);
  return html`<span class="label" data-other=${other}>${opener}</span>`;
}

// Opener opens a form. why says why the change doesn't apply now.
/** @param {{kind: Kind, name: View | string, isOpen: boolean, why: string}} props */
function Opener({ kind, name, isOpen, why }) {
  return html`
    <button type="button" id=${`amend-${kind}`} title=${why || null} aria-disabled=${why ? "true" : null} aria-expanded=${isOpen ? "true" : "false"}
      onClick=${() => why || open(kind)}>${name}</button>`;
}

// ChangeForm gets the focus when it opens. When it closes, the focus returns to its button.
/** @param {{person: Person, outcome: Outcome}} props */
function ChangeForm({ person, outcome: { busy, problem } }) {
  const { form } = person;
  const { title, does, Fields } = kinds[form.kind], ended = whyEnded(person);
  useWarning(form.isTyped);
  const place = useEscape(close, `amend-${form.kind}`);
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
    <form class="amend" ref=${place} aria-label=${t(title)} novalidate onSubmit=${onSubmit}>
      <${Fields} person=${person} isBusy=${busy || Boolean(ended)} />
      <p class="error" role="alert">${Object.keys(form.errors).length === 0 && problem}</p>
      <div class="buttons">
        <button class="primary" title=${ended || null} aria-disabled=${busy || ended || Object.keys(form.errors).length > 0 ? "true" : "false"}>${isConflict() && form.kind === "timeout" ? t("now.timeout-anyway") : does ? t(does) : liftNames(liftedBy(person)).button}</button>
        <button type="button" onClick=${cancel}>${t("shell.cancel")}</button>
        <span role="status">${!problem && ended}</span>
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
      ${mayUndo && html`<button type="button" onClick=${undo}>${t("shell.undo")}</button>`}
    </p>
  `;
}

// TimeoutFields have usual durations, which act at once, and fields for others.
/** @param {{person: Person, isBusy: boolean}} props */
function TimeoutFields({ person: { form }, isBusy }) {
  const { length, reason } = form.draft;
  return html`
    <div class="tabs" role="group" aria-label=${t("people.durations")}>
      ${timeoutsByLength(timeoutsHere().lengths).map((usual) => html`
        <button type="button" aria-disabled=${isBusy ? "true" : "false"} onClick=${() => timeOutFor(usual.length)}>${usual.name}</button>`)}
    </div>
    <div class="fields">
      <${LimitField} id="timeout-length" label=${t("now.duration")} isText=${true} hint=${t("people.duration-hint")} value=${length} fixed=${isBusy} error=${form.errors.length}
        onInput=${(text) => edit({ length: text })} />
      <${Reason} reason=${reason} isBusy=${isBusy} />
    </div>
  `;
}

/** @param {{person: Person, isBusy: boolean}} props */
function BanFields({ person: { form, card }, isBusy }) {
  return html`
    <p>${rich("now.ban-question", { who: html`<bdi>${nameOf(card)}</bdi>` })} ${banWarning()}</p>
    <div class="fields"><${Reason} reason=${form.draft.reason} isBusy=${isBusy} /></div>
  `;
}

/** @param {{reason: string, isBusy: boolean}} props */
function Reason({ reason, isBusy }) {
  return html`<${LimitField} id="act-reason" label=${t("now.reason-hint")} isText=${true} value=${reason} fixed=${isBusy} onInput=${(text) => edit({ reason: text })} />`;
}

/** @param {{person: Person}} props */
function LiftQuestion({ person }) {
  return html`<p>${liftQuestion(liftedBy(person), html`<bdi>${nameOf(person.card)}</bdi>`)}</p>`;
}

/** @param {{person: Person, isBusy: boolean}} props */
function GrantFields({ person: { form, card }, isBusy }) {
  const { messages, limit } = form.draft;
  return html`
    <div class="fields">
      <${LimitField} id="grant-messages" label=${t("people.grant-count")} unit=${t("people.grant-unit")} value=${messages} fixed=${isBusy} error=${form.errors.messages}
        onInput=${(text) => edit({ messages: text })} />
      <div class="field">
        <label for="grant-limit">${t("now.limit")}</label>
        <select id="grant-limit" value=${limit} onChange=${(event) => edit({ limit: event.target.value })}>
          ${grantable(card).map(({ name }) => html`<option value=${name} selected=${name === limit}>${name}</option>`)}
        </select>
      </div>
    </div>
    <p class="muted">${t("people.grant-about")}</p>
  `;
}

/** @param {{person: Person}} props */
function ExemptFields({ person: { form, card } }) {
  return html`
    <div class="field">
      <label for="exempt-length">${t("now.duration")}</label>
      <select id="exempt-length" value=${form.draft.length} onChange=${(event) => edit({ length: event.target.value })}>
        ${exemptLengths(card).map(({ length, name }) => html`<option value=${length} selected=${length === form.draft.length}>${name}</option>`)}
      </select>
    </div>
  `;
}

/** @param {{person: Person}} props */
function ResetQuestion({ person: { card } }) {
  return html`<p>${rich("now.reset-question", { who: html`<bdi>${nameOf(card)}</bdi>` })} ${resetWarning()}</p>`;
}
