// What stands below a throttled user's row: a plain question, or an answer that has to be read.

import { html, useState } from "../vendor/htm-preact.js";
import { close, controlID, exempt, grant, nameOf, reset } from "./amending.js";
import { unsavedText } from "./channel-switches.js";
import { Actions } from "./row-actions.js";
import { now } from "./state.js";
import { wait } from "./time.js";

export function RowQuestion({ state, user, held }) {
  const { [user.user_id]: amended = {} } = state.amended;
  const Question = questions[held.asks];
  return html`
    <div class="question" role="group" aria-label="About ${nameOf(user)}">
      <${Question} user=${user} held=${held} first=${controlID(user.user_id, "first")} isBusy=${amended.busy ? "true" : "false"}
        answer=${amended.done && `${amended.done}. ${unsavedText(state.status.database)}`} />
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
  const submit = (event) => {
    event.preventDefault();
    const { limit, messages } = Object.fromEntries(new FormData(event.target));
    grant(user, limit, Number(messages));
  };
  return html`
    <form class="together" onSubmit=${submit}>
      <span>Give <bdi>${nameOf(user)}</bdi></span>
      <input id=${first} name="messages" type="number" min="1" required defaultValue="10" aria-label="How many messages" />
      <span>more messages in</span>
      <select name="limit" aria-label="Limit">
        ${(held.limits ?? [wanted]).map((name) => html`<option key=${name} value=${name} selected=${name === wanted}>${name}</option>`)}
      </select>
      <button class="primary" aria-disabled=${isBusy}>Grant</button>
      <${Cancel} />
    </form>
  `;
}

function Exempt({ user, first, isBusy }) {
  const midnight = new Date(now()).setHours(24, 0, 0, 0) - now();
  const lengths = [["10m", "10 min"], ["1h", "1 h"], [`${Math.ceil(midnight / 1000)}s`, `until midnight (in ${wait(midnight)})`], ["", "for good"]];
  return html`
    <div class="together">
      <span>Let <bdi>${nameOf(user)}</bdi> write without limits</span>
      ${lengths.map(([length, name], i) => html`
        <button type="button" id=${i === 0 ? first : null} aria-disabled=${isBusy} onClick=${() => exempt(user, length)}>${name}</button>
      `)}
      <${Cancel} />
    </div>
  `;
}

function Reset({ user, first, isBusy }) {
  return html`
    <div class="together">
      <span>Reset <bdi>${nameOf(user)}</bdi>? Everything they have used is forgotten.</span>
      <button type="button" id=${first} class="primary" aria-disabled=${isBusy} onClick=${() => reset(user)}>Reset</button>
      <${Cancel} />
    </div>
  `;
}

function Answer({ answer, first }) {
  return html`
    <div class="together">
      ${answer && html`<span class="warn" role="status">${answer}</span>`}
      <button type="button" id=${first} onClick=${close}>Close</button>
    </div>
  `;
}
