// @ts-check
// The question or outcome beside a user's row.

import { rich, t } from "../../text/text.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { exemptLength, exemptLengths, grantable, kindOf, mayUndo, noticeOf, outcomeOf, problemOf, resetWarning } from "../changes/user.js";
import { isSeen } from "../core/focus.js";
import { nameOf, state, timeoutsHere } from "../core/state.js";
import { Around } from "./around.js";
import { deedOf, isLatest, silenceNow } from "./deed.js";
import { ask, ban, close, controlID, exempt, grant, lift, reset, timeOut, undo } from "./question.js";
import { Menu, whyNoTimeout } from "./row-actions.js";
import { banWarning, inForceWords, liftNames, liftQuestion, timeoutsByLength } from "../words/silence.js";
/** @import { Value, View } from "../../vendor/htm-preact.js" */
/** @import { Outcome } from "../changes/user.js" */
/** @import { Database, State, User } from "../core/state.js" */
/** @import { Held } from "./held-row.js" */

/**
 * @typedef {{user: User, held: Held, first: string, isBusy: string, outcome: Outcome, database?: Database}} Question
 */

/** @param {{state: State, user: User, held: Held}} props */
export function RowQuestion({ state, user, held }) {
  const outcome = state.changes[user.user_id] ?? outcomeOf({});
  const Question = questions[held.asks];
  const whole = useRef(null);
  useLayoutEffect(() => place(whole.current), [held.asks, held.card, held.around]);
  return html`
    <div class="question ${held.asks === "menu" ? "menu" : `of-${held.asks}`}" ref=${whole} role="group" aria-label=${t("now.about", { who: nameOf(user) })}>
      <${Question} user=${user} held=${held} first=${controlID(user.user_id, "first")} isBusy=${outcome.busy ? "true" : "false"}
        outcome=${outcome} database=${state.status?.database} />
      <p class="error" role="alert">${!(outcome.isConflict && outcome.wanted) && problemOf(outcome, silenceNow(user))}</p>
    </div>
  `;
}

// place puts a question above its row if there is no room below it, so that the page needn't scroll
// what is under the pointer.
/** @param {HTMLElement} question */
function place(question) {
  question.classList.remove("above");
  if (isSeen(question)) return;
  const { height } = question.getBoundingClientRect(), row = question.closest(".row").getBoundingClientRect();
  if (row.top > height) question.classList.add("above");
  if (!isSeen(question)) question.scrollIntoView({ block: "nearest" });
}

/** @type {Record<string, (question: Question) => View>} */
const questions = {
  menu: ({ user, held, isBusy }) => html`<${Menu} user=${user} index=${held.index} isBusy=${isBusy} />`,
  around: ({ user, held }) => html`<${Around} user=${user} held=${held} />`,
  timeout: Timeout,
  ban: Ban,
  lift: Lift,
  grant: Grant,
  exempt: Exempt,
  reset: Reset,
  answer: Answer,
};

// Nothing replaces a question about something that isn't possible now.
/** @param {{first: string, why: string}} props */
const Nothing = ({ first, why }) => html`
  <div class="together">
    <span>${why}</span>
    <button type="button" id=${first} onClick=${close}>${t("shell.close")}</button>
  </div>`;

const Cancel = () => html`<button type="button" class="quiet" onClick=${close}>${t("shell.cancel")}</button>`;

/** @param {Question} props */
function Grant({ user, held, first, isBusy }) {
  const [wanted] = useState(user.same_text ? "" : user.limit); // even if another limit throttles the user by now; a text gets no grant
  const limits = held.card ? grantable(held.card).map(({ name }) => name) : [wanted].filter(Boolean);
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = (event) => {
    event.preventDefault();
    const { limit, messages } = Object.fromEntries(new FormData(event.target));
    grant(user, String(limit), String(messages));
  };
  if (limits.length === 0) return html`<${Nothing} first=${first} why=${held.card ? t("now.grant-nothing") : t("shell.loading")} />`;
  const messages = html`<input id=${first} name="messages" inputmode="numeric" autocomplete="off" defaultValue="10" aria-label=${t("now.grant-count")} />`;
  const limit = html`
    <select name="limit" aria-label=${t("now.limit")}>
      ${limits.map((name) => html`<option key=${name} value=${name} selected=${name === wanted}>${name}</option>`)}
    </select>`;
  return html`
    <form class="together" novalidate onSubmit=${submit}>
      ${apart(rich("now.grant-question", { who: html`<bdi>${nameOf(user)}</bdi>`, messages, limit }), [messages, limit])}
      <button class="primary" aria-disabled=${isBusy}>${t("now.grant-it")}</button>
      <${Cancel} />
    </form>
  `;
}

// apart keeps the fields of a sentence apart from the words between them.
/** @param {Value[]} pieces @param {Value[]} fields */
function apart(pieces, fields) {
  /** @type {Value[]} */
  const items = [];
  let words = /** @type {Value[]} */ ([]);
  for (const piece of [...pieces, null]) {
    if (piece !== null && !fields.includes(piece)) words.push(piece);
    else {
      if (words.some(Boolean)) items.push(html`<span>${words}</span>`);
      items.push(piece);
      words = [];
    }
  }
  return items;
}

// Timeout is for another duration than the usual ones, or another reason. A usual duration acts at
// once here, too.
/** @param {Question} props */
function Timeout({ user, first, isBusy, outcome }) {
  const form = useRef(null);
  const { lengths, reason: usual } = timeoutsHere();
  /** @param {FormDataEntryValue} length */
  const send = (length) => timeOut(user, String(length), String(new FormData(form.current).get("reason")));
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    send(new FormData(form.current).get("length"));
  };
  const silence = silenceNow(user);
  if (silence?.banned) return html`<${Nothing} first=${first} why=${inForceWords(silence)} />`;
  return html`
    <form class="together" ref=${form} novalidate onSubmit=${submit}>
      <span>${rich("now.timeout-question", { who: html`<bdi>${nameOf(user)}</bdi>` })}</span>
      <span class="tabs" role="group" aria-label=${t("now.duration")}>
        ${timeoutsByLength(lengths).map(({ length, name }, i) => html`
          <button type="button" id=${i === 0 ? first : null} aria-disabled=${isBusy} onClick=${() => send(length)}>${name}</button>`)}
      </span>
      <input name="length" placeholder=${t("now.other-hint")} aria-label=${t("now.other-duration")} autocomplete="off" size="8" />
      <${Reason} usual=${usual} />
      <button class="primary" aria-disabled=${isBusy}>${t("now.timeout-it")}</button>
      <${Anyway} user=${user} outcome=${outcome} />
      <${Cancel} />
    </form>
  `;
}

/** @param {{id?: string, usual?: string}} props */
const Reason = ({ id, usual }) => html`
  <input id=${id} name="reason" class="reason" defaultValue=${usual} placeholder=${t("now.reason-hint")} aria-label=${t("now.reason")} maxlength="500" autocomplete="off" />`;

// Anyway confirms a timeout that would shorten another one. If the user is banned by now, its button
// keeps its place.
/** @param {{user: User, outcome: Outcome}} props */
function Anyway({ user, outcome }) {
  const { isConflict, wanted } = outcome, why = whyNoTimeout(user);
  if (!isConflict || !wanted) return null;
  return html`
    <span class="error" role="alert">${problemOf(outcome, silenceNow(user))}</span>
    <button type="button" title=${why || null} aria-disabled=${why ? "true" : null} onClick=${() => why || timeOut(user, wanted.length, wanted.reason, true)}>${t("now.timeout-anyway")}</button>`;
}

/** @param {Question} props */
function Ban({ user, first, isBusy }) {
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = (event) => {
    event.preventDefault();
    ban(user, String(new FormData(event.target).get("reason")));
  };
  const silence = silenceNow(user);
  if (silence?.banned) return html`<${Nothing} first=${first} why=${inForceWords(silence)} />`;
  return html`
    <form class="together" novalidate onSubmit=${submit}>
      <span>${rich("now.ban-question", { who: html`<bdi>${nameOf(user)}</bdi>` })} ${banWarning()}</span>
      <${Reason} id=${first} />
      <button class="primary" aria-disabled=${isBusy}>${t("now.ban-it")}</button>
      <${Cancel} />
    </form>
  `;
}

// Lift asks whether to end a timeout or ban, and says whose it is. Its button never becomes that of a
// timeout instead of a ban, or the reverse.
/** @param {Question} props */
function Lift({ user, first, isBusy }) {
  const [asked] = useState(silenceNow(user));
  const silence = silenceNow(user);
  if (asked && silence?.banned !== asked.banned) return html`<${Nothing} first=${first} why=${silence ? inForceWords(silence) : t("now.lift-nothing")} />`;
  return html`
    <div class="together">
      <span>${liftQuestion(silence, html`<bdi>${nameOf(user)}</bdi>`)}</span>
      <button type="button" id=${first} class="primary" aria-disabled=${isBusy} onClick=${() => lift(user, silence && !silence.banned ? "timeout" : "ban")}>${liftNames(silence).button}</button>
      <${Cancel} />
    </div>
  `;
}

/** @param {Question} props */
function Exempt({ user, held: { card }, first, isBusy }) {
  /** @param {string} length */
  const choose = (length) => (length !== "day" || card) && exempt(user, exemptLength(card, length));
  return html`
    <div class="together">
      <span>${rich("now.exempt-question", { who: html`<bdi>${nameOf(user)}</bdi>` })}</span>
      ${exemptLengths(card).map(({ length, name }, i) => html`
        <button type="button" id=${i === 0 ? first : null} aria-disabled=${length === "day" && !card ? "true" : isBusy} onClick=${() => choose(length)}>${name}</button>
      `)}
      <${Cancel} />
    </div>
  `;
}

/** @param {Question} props */
function Reset({ user, first, isBusy }) {
  return html`
    <div class="together">
      <span>${rich("now.reset-question", { who: html`<bdi>${nameOf(user)}</bdi>` })} ${resetWarning()}</span>
      <button type="button" id=${first} class="primary" aria-disabled=${isBusy} onClick=${() => reset(user)}>${t("now.reset-it")}</button>
      <${Cancel} />
    </div>
  `;
}

// Answer shows the outcome and a button to undo it. If a limit still throttles the user, it offers
// a grant and a reset. question.js announces the outcome. If something was done since, it says that
// instead.
/** @param {Question} props */
function Answer({ user, held: { index }, outcome, database, first, isBusy }) {
  return html`
    <div class="together">
      ${outcome.sentence && html`<span class="outcome ${kindOf(outcome) === "warn" ? "warn" : ""}">${isLatest(outcome, user) ? noticeOf(outcome, database) : deedOf(user).word}</span>`}
      <${Anyway} user=${user} outcome=${outcome} />
      ${mayUndo(outcome) && !isOthers(user, outcome) && html`<button type="button" aria-disabled=${isBusy} onClick=${() => undo(user)}>${t("shell.undo")}</button>`}
      ${outcome.remains && isLatest(outcome, user) && html`<button type="button" onClick=${() => ask(user, index, "lift")}>${liftNames(outcome.remains).opener}</button>`}
      ${outcome.isThrottled && html`
        <button type="button" onClick=${() => ask(user, index, "grant")}>${t("now.grant")}</button>
        <button type="button" onClick=${() => ask(user, index, "reset")}>${t("now.reset")}</button>`}
      <button type="button" id=${first} onClick=${close}>${t("shell.close")}</button>
    </div>
  `;
}

// isOthers reports whether the undo of a timeout or ban would end another person's, or none.
/** @param {User} user @param {Outcome} outcome */
const isOthers = (user, { undoing }) => Boolean(undoing.lift) && silenceNow(user)?.by !== state.me.author;
