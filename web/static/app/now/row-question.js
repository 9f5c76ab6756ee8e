// @ts-check
// The buttons that act on a throttled user, and the question or outcome below the user's row.

import { html, useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { exemptLength, exemptLengths, grantable, kindOf, mayUndo, noticeOf, outcomeOf, resetWarning } from "../changes/user.js";
import { nameOf } from "../core/state.js";
import { ask, close, controlID, exempt, grant, pardon, reset, undo } from "./question.js";
/** @import { View } from "../../vendor/htm-preact.js" */
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
  useLayoutEffect(() => whole.current.scrollIntoView({ block: "nearest" }), [held.asks, held.card]);
  return html`
    <div class="question" ref=${whole} role="group" aria-label="About ${nameOf(user)}">
      <${Question} user=${user} held=${held} first=${controlID(user.user_id, "first")} isBusy=${outcome.busy ? "true" : "false"}
        outcome=${outcome} database=${state.status?.database} />
      <p class="error" role="alert">${outcome.problem}</p>
    </div>
  `;
}

/** @type {Record<string, (question: Question) => View>} */
const questions = {
  menu: ({ user, held }) => html`<${Actions} user=${user} index=${held.index} asks="menu" />`,
  grant: Grant,
  exempt: Exempt,
  reset: Reset,
  answer: Answer,
};

const Cancel = () => html`<button type="button" class="quiet" onClick=${close}>Cancel</button>`;

/** @param {Question} props */
function Grant({ user, held, first, isBusy }) {
  const [wanted] = useState(user.limit); // even if another limit throttles the user by now
  const limits = held.card ? grantable(held.card).map(({ name }) => name) : [wanted];
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = (event) => {
    event.preventDefault();
    const { limit, messages } = Object.fromEntries(new FormData(event.target));
    grant(user, String(limit), Number(messages));
  };
  if (limits.length === 0) {
    return html`
      <div class="together">
        <span>Nothing to grant: no limit counts per user.</span>
        <button type="button" id=${first} onClick=${close}>Close</button>
      </div>`;
  }
  return html`
    <form class="together" onSubmit=${submit}>
      <span>Give <bdi>${nameOf(user)}</bdi></span>
      <input id=${first} name="messages" type="number" min="1" required defaultValue="10" aria-label="Number of messages" />
      <span>more messages in</span>
      <select name="limit" aria-label="Limit">
        ${limits.map((name) => html`<option key=${name} value=${name} selected=${name === wanted}>${name}</option>`)}
      </select>
      <button class="primary" aria-disabled=${isBusy}>Grant</button>
      <${Cancel} />
    </form>
  `;
}

/** @param {Question} props */
function Exempt({ user, held: { card }, first, isBusy }) {
  /** @param {string} length */
  const choose = (length) => (length !== "day" || card) && exempt(user, exemptLength(card, length));
  return html`
    <div class="together">
      <span>Let <bdi>${nameOf(user)}</bdi> write without limits</span>
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
      <span>Reset <bdi>${nameOf(user)}</bdi>? ${resetWarning}</span>
      <button type="button" id=${first} class="primary" aria-disabled=${isBusy} onClick=${() => reset(user)}>Reset</button>
      <${Cancel} />
    </div>
  `;
}

// Answer shows the outcome and a button to undo it. If a limit still holds the user back, it offers
// a grant and a reset.
/** @param {Question} props */
function Answer({ user, held: { index }, outcome, database, first, isBusy }) {
  return html`
    <div class="together">
      ${outcome.sentence && html`<span class=${kindOf(outcome) === "warn" ? "warn" : ""} role="status">${noticeOf(outcome, database)}</span>`}
      ${mayUndo(outcome) && html`<button type="button" aria-disabled=${isBusy} onClick=${() => undo(user)}>Undo</button>`}
      ${outcome.isHeld && html`
        <button type="button" onClick=${() => ask(user, index, "grant")}>Grant…</button>
        <button type="button" onClick=${() => ask(user, index, "reset")}>Reset…</button>`}
      <button type="button" id=${first} onClick=${close}>Close</button>
    </div>
  `;
}

// Actions shows the button Pardon, and three buttons that open a question. In a menu, the first
// button gets the focus.
/** @param {{user: User, index: number, asks?: string}} props */
export function Actions({ user, index, asks }) {
  const name = nameOf(user);
  /** @param {string} action */
  const asking = (action) => ({ user, name: action, isOpen: asks === action, act: () => ask(user, index, action) });
  return html`
    <${Action} user=${user} name=${asks === "menu" ? "first" : "pardon"} does="Pardon" about="Pardon ${name}" act=${() => pardon(user, index)} />
    <${Action} ...${asking("grant")} does="Grant" about="Grant ${name} more messages" />
    <${Action} ...${asking("exempt")} does="Exempt" about="Exempt ${name} from the limits" />
    <${Action} ...${asking("reset")} does="Reset" about="Reset ${name}" />
  `;
}

// Action is one button. isOpen says whether its question is open; it is undefined if the button
// opens none.
/**
 * @param {{user: User, name: string, does: string, about: string, isOpen?: boolean, act: () => void}} props
 */
export function Action({ user, name, does, about, isOpen, act }) {
  return html`
    <button type="button" class="quiet" id=${controlID(user.user_id, name)} aria-label=${about} aria-expanded=${isOpen === undefined ? null : String(isOpen)}
      onClick=${act}>${does}</button>
  `;
}
