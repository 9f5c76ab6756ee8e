// @ts-check
// The buttons that act on a throttled user, and the question or outcome below the user's row.

import { rich, t } from "../../text/text.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { exemptLength, exemptLengths, grantable, kindOf, mayUndo, noticeOf, outcomeOf, resetWarning } from "../changes/user.js";
import { linkTo } from "../core/route.js";
import { mayAct, nameOf, state } from "../core/state.js";
import { Around } from "./around.js";
import { ask, ban, close, controlID, exempt, grant, lift, pardon, reset, silencedAs, timeOut, undo } from "./question.js";
import { Icon } from "../widgets/icon.js";
import { banWarning, liftNames, liftQuestion, timeoutLengths } from "../words/silence.js";
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
  useLayoutEffect(() => whole.current.scrollIntoView({ block: "nearest" }), [held.asks, held.card, held.around]);
  return html`
    <div class="question ${held.asks === "menu" ? "menu" : `of-${held.asks}`}" ref=${whole} role="group" aria-label=${t("now.about", { who: nameOf(user) })}>
      <${Question} user=${user} held=${held} first=${controlID(user.user_id, "first")} isBusy=${outcome.busy ? "true" : "false"}
        outcome=${outcome} database=${state.status?.database} />
      <p class="error" role="alert">${outcome.problem}</p>
    </div>
  `;
}

/** @type {Record<string, (question: Question) => View>} */
const questions = {
  menu: ({ user, held }) => html`<${Menu} user=${user} index=${held.index} />`,
  around: ({ user, held }) => html`<${Around} user=${user} held=${held} />`,
  timeout: Timeout,
  ban: Ban,
  lift: Lift,
  grant: Grant,
  exempt: Exempt,
  reset: Reset,
  answer: Answer,
};

const Cancel = () => html`<button type="button" class="quiet" onClick=${close}>${t("shell.cancel")}</button>`;

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
        <span>${t("now.grant-nothing")}</span>
        <button type="button" id=${first} onClick=${close}>${t("shell.close")}</button>
      </div>`;
  }
  const messages = html`<input id=${first} name="messages" type="number" min="1" required defaultValue="10" aria-label=${t("now.grant-count")} />`;
  const limit = html`
    <select name="limit" aria-label=${t("now.limit")}>
      ${limits.map((name) => html`<option key=${name} value=${name} selected=${name === wanted}>${name}</option>`)}
    </select>`;
  return html`
    <form class="together" onSubmit=${submit}>
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

// Timeout times the user out as soon as a duration is chosen. If that would shorten another
// timeout, it asks for a confirmation.
/** @param {Question} props */
function Timeout({ user, first, isBusy, outcome }) {
  const [chosen, choose] = useState({ length: "", reason: "" });
  const form = useRef(null);
  /** @param {string} length */
  const send = (length) => {
    const reason = String(new FormData(form.current).get("reason"));
    choose({ length, reason });
    timeOut(user, length, reason);
  };
  /** @param {SubmitEvent} event */
  const submit = (event) => {
    event.preventDefault();
    send(String(new FormData(form.current).get("length")));
  };
  return html`
    <form class="together" ref=${form} onSubmit=${submit}>
      <span>${rich("now.timeout-question", { who: html`<bdi>${nameOf(user)}</bdi>` })}</span>
      <span class="tabs" role="group" aria-label=${t("now.duration")}>
        ${timeoutLengths.map(({ length, name }, i) => html`
          <button type="button" id=${i === 0 ? first : null} aria-disabled=${isBusy} onClick=${() => send(length)}>${name}</button>`)}
      </span>
      <input name="length" required placeholder=${t("now.other-hint")} aria-label=${t("now.other-duration")} autocomplete="off" size="8" />
      <input name="reason" class="reason" placeholder=${t("now.reason-hint")} aria-label=${t("now.reason")} maxlength="500" autocomplete="off" />
      <button class="primary" aria-disabled=${isBusy}>${t("now.timeout-it")}</button>
      ${outcome.isConflict && html`<button type="button" onClick=${() => timeOut(user, chosen.length, chosen.reason, true)}>${t("now.timeout-anyway")}</button>`}
      <${Cancel} />
    </form>
  `;
}

/** @param {Question} props */
function Ban({ user, first, isBusy }) {
  /** @param {SubmitEvent & {target: HTMLFormElement}} event */
  const submit = (event) => {
    event.preventDefault();
    ban(user, String(new FormData(event.target).get("reason")));
  };
  return html`
    <form class="together" onSubmit=${submit}>
      <span>${rich("now.ban-question", { who: html`<bdi>${nameOf(user)}</bdi>` })} ${banWarning()}</span>
      <input id=${first} name="reason" class="reason" placeholder=${t("now.reason-hint")} aria-label=${t("now.reason")} maxlength="500" autocomplete="off" />
      <button class="primary" aria-disabled=${isBusy}>${t("now.ban-it")}</button>
      <${Cancel} />
    </form>
  `;
}

// Lift asks whether to end a timeout or ban, and says whose it is.
/** @param {Question} props */
function Lift({ user, held: { card }, first, isBusy }) {
  const silence = card?.silenced ?? (card ? null : { banned: silencedAs(user) === "ban", by: "" });
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

// Answer shows the outcome and a button to undo it. If a limit still holds the user back, it offers
// a grant and a reset.
/** @param {Question} props */
function Answer({ user, held: { index }, outcome, database, first, isBusy }) {
  return html`
    <div class="together">
      ${outcome.sentence && html`<span class=${kindOf(outcome) === "warn" ? "warn" : ""} role="status">${noticeOf(outcome, database)}</span>`}
      ${mayUndo(outcome) && html`<button type="button" aria-disabled=${isBusy} onClick=${() => undo(user)}>${t("shell.undo")}</button>`}
      ${outcome.isHeld && html`
        <button type="button" onClick=${() => ask(user, index, "grant")}>${t("now.grant")}</button>
        <button type="button" onClick=${() => ask(user, index, "reset")}>${t("now.reset")}</button>`}
      <button type="button" id=${first} onClick=${close}>${t("shell.close")}</button>
    </div>
  `;
}

// wide is true if a row has room for its most important actions.
export const wide = matchMedia("(min-width: 980px)"); // as in style/now.css

// asking returns the properties of a button that opens a question.
/** @param {User} user @param {number} index @param {string} action @param {string} [asks] the open question */
const asking = (user, index, action, asks) => ({ user, name: action, isOpen: asks === action, act: () => ask(user, index, action) });

// Actions shows the most important buttons of a row, and the one that opens the menu with all
// others.
/** @param {{user: User, index: number, asks?: string}} props */
export function Actions({ user, index, asks }) {
  const who = nameOf(user);
  return html`
    ${wide.matches && html`
      <${Action} user=${user} name="pardon" does=${t("now.pardon")} about=${t("now.pardon-user", { who })} act=${() => pardon(user, index)} />
      <${Silencing} user=${user} index=${index} asks=${asks} />`}
    <${Action} ...${asking(user, index, "menu", asks)} icon="more" does=${t("now.more")} hasWord=${false} about=${t("now.more-for", { who })} />
  `;
}

// Silencing shows the buttons for a timeout and a ban, or the one that lifts them. In a row they
// are icons.
/** @param {{user: User, index: number, asks?: string, hasWord?: boolean}} props */
function Silencing({ user, index, asks, hasWord = false }) {
  if (!mayAct()) return null;
  const name = nameOf(user), silenced = silencedAs(user);
  const { button, about } = liftNames({ banned: silenced === "ban", by: "" });
  if (silenced) return html`<${Action} ...${asking(user, index, "lift", asks)} icon="play" hasWord=${hasWord} does=${button} about=${about(name)} />`;
  return html`
    <${Action} ...${asking(user, index, "timeout", asks)} icon="clock" hasWord=${hasWord} does=${t("now.timeout")} about=${t("now.timeout-user", { who: name })} />
    <${Action} ...${asking(user, index, "ban", asks)} icon="ban" hasWord=${hasWord} does=${t("now.ban")} about=${t("now.ban-user", { who: name })} />
  `;
}

// Menu shows the actions for which the row has no room. The first one gets the focus.
/** @param {{user: User, index: number}} props */
function Menu({ user, index }) {
  const who = nameOf(user), card = twitchCard(user);
  const grant = { ...asking(user, index, "grant"), name: wide.matches ? "first" : "grant" };
  return html`
    ${!wide.matches && html`
      <${Action} user=${user} name="first" does=${t("now.pardon")} icon="check" about=${t("now.pardon-user", { who })} act=${() => pardon(user, index)} />
      <${Silencing} user=${user} index=${index} hasWord />`}
    <${Action} ...${grant} does=${t("now.grant")} icon="grant" about=${t("now.grant-user", { who })} />
    <${Action} ...${asking(user, index, "exempt")} does=${t("now.exempt")} icon="exempt" about=${t("now.exempt-user", { who })} />
    <${Action} ...${asking(user, index, "reset")} does=${t("now.reset")} icon="reset" about=${t("now.reset-user", { who })} />
    <hr />
    <a href=${linkTo(state, "people", { user: user.user_id })}><${Icon} name="people" />${t("now.open-card")}</a>
    ${card && html`<a href=${card} target="_blank" rel="noopener"><${Icon} name="external-link" />${t("now.twitch-card")}<span class="unseen">${t("now.new-window")}</span></a>`}
  `;
}

// twitchCard returns the address of a user's card on Twitch, or "" in another chat.
/** @param {User} user */
function twitchCard({ channel, login }) {
  const room = state.channels.find(({ id }) => id === channel);
  const isTwitch = !state.me.mounted && !channel.startsWith("check:") && state.status?.connections.some(({ name }) => name === "Twitch");
  return isTwitch && room?.login && login ? `https://www.twitch.tv/popout/${encodeURIComponent(room.login)}/viewercard/${encodeURIComponent(login)}` : "";
}

// Action is one button, with a word unless hasWord is false. isOpen says whether its question is
// open; it is undefined if the button opens none.
/**
 * @param {{user: User, name: string, icon?: string, hasWord?: boolean, does: string, about: string, isOpen?: boolean, act: () => void}} props
 */
export function Action({ user, name, icon, hasWord = true, does, about, isOpen, act }) {
  return html`
    <button type="button" class=${hasWord ? "quiet" : "icon-only"} id=${controlID(user.user_id, name)} aria-label=${about} title=${hasWord ? null : about}
      aria-expanded=${isOpen === undefined ? null : String(isOpen)} onClick=${act}>${icon && html`<${Icon} name=${icon} />`}${hasWord && does}</button>
  `;
}
