// What stands below a throttled user's row: a plain question, or an answer that has to be read.

import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { ask, close, controlID, exempt, grant, mayUndo, nameOf, reset, undo } from "./amending.js";
import { unsavedText } from "./channel-switches.js";
import { exemptLengths, grantable, lengthAsked } from "./giving.js";
import { ResetWords } from "./reset-words.js";
import { Actions } from "./row-actions.js";

export function RowQuestion({ state, user, held }) {
  const { [user.user_id]: amended = {} } = state.amended;
  const Question = questions[held.asks];
  const whole = useRef(null);
  useLayoutEffect(() => whole.current.scrollIntoView({ block: "nearest" }), [held.asks, held.card]);
  return html`
    <div class="question" ref=${whole} role="group" aria-label="About ${nameOf(user)}">
      <${Question} user=${user} held=${held} first=${controlID(user.user_id, "first")} isBusy=${amended.busy ? "true" : "false"}
        amended=${amended} database=${state.status?.database} />
      <p class="error" role="alert">${amended.problem}</p>
    </div>
  `;
}

const questions = {
  menu: ({ user, held }) => html`<${Actions} user=${user} index=${held.index} asks="menu" />`,
  grant: Grant,
  exempt: Exempt,
  reset: Reset,
  answer: Answer,
};

const Cancel = () => html`<button type="button" class="quiet" onClick=${close}>Cancel</button>`;

function Grant({ user, held, first, isBusy }) {
  const [wanted] = useState(user.limit); // whatever holds them back meanwhile
  const limits = held.card ? grantable(held.card).map(({ name }) => name) : [wanted];
  const submit = (event) => {
    event.preventDefault();
    const { limit, messages } = Object.fromEntries(new FormData(event.target));
    grant(user, limit, Number(messages));
  };
  if (limits.length === 0) {
    return html`
      <div class="together">
        <span>No limit here counts single users, so nobody can be given extra messages.</span>
        <button type="button" id=${first} onClick=${close}>Close</button>
      </div>`;
  }
  return html`
    <form class="together" onSubmit=${submit}>
      <span>Give <bdi>${nameOf(user)}</bdi></span>
      <input id=${first} name="messages" type="number" min="1" required defaultValue="10" aria-label="How many messages" />
      <span>more messages in</span>
      <select name="limit" aria-label="Limit">
        ${limits.map((name) => html`<option key=${name} value=${name} selected=${name === wanted}>${name}</option>`)}
      </select>
      <button class="primary" aria-disabled=${isBusy}>Grant</button>
      <${Cancel} />
    </form>
  `;
}

function Exempt({ user, held: { card }, first, isBusy }) {
  const choose = (length) => (length !== "day" || card) && exempt(user, lengthAsked(card, length));
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

function Reset({ user, first, isBusy }) {
  return html`
    <div class="together">
      <span><${ResetWords} name=${nameOf(user)} /></span>
      <button type="button" id=${first} class="primary" aria-disabled=${isBusy} onClick=${() => reset(user)}>Reset</button>
      <${Cancel} />
    </div>
  `;
}

// Answer is how it went, with what undoes it, and where a limit still holds the user back what helps.
function Answer({ user, held: { index }, amended, database, first, isBusy }) {
  const { done, sentence, isSaved, isPartial, isHeld } = amended;
  const said = sentence || `${done}.`;
  return html`
    <div class="together">
      ${done && html`<span class=${isSaved && !isPartial ? "" : "warn"} role="status">${isSaved ? said : `${said} ${unsavedText(database)}`}</span>`}
      ${mayUndo(amended) && html`<button type="button" aria-disabled=${isBusy} onClick=${() => undo(user)}>Undo</button>`}
      ${isHeld && html`
        <button type="button" onClick=${() => ask(user, index, "grant")}>Grant…</button>
        <button type="button" onClick=${() => ask(user, index, "reset")}>Reset…</button>`}
      <button type="button" id=${first} onClick=${close}>Close</button>
    </div>
  `;
}
