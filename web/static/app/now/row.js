// @ts-check
// One row of the table of throttled users.

import { html, useState } from "../../vendor/htm-preact.js";
import { kindOf } from "../changes/user.js";
import { linkTo } from "../core/route.js";
import { asOf, mayModerate, nameOf, now } from "../core/state.js";
import { ask, controlID } from "./question.js";
import { Action, Actions, RowQuestion } from "./row-question.js";
import { outcomeWords } from "../words/penalties.js";
import { upcoming, wait } from "../words/time.js";
/** @import { Outcome } from "../changes/user.js" */
/** @import { State, User } from "../core/state.js" */
/** @import { Held } from "./held-row.js" */

const roomy = matchMedia("(min-width: 1400px)"); // as in style/now.css
const fresh = 1000; // how long a row shows as arriving, ms

/**
 * @param {{state: State, user: User, index: number, height: number, held: Held | null, isLeaving?: boolean}} props
 */
export function UserRow({ state, user, index, height, held, isLeaving }) {
  const kind = isLeaving ? "leaving" : user.isGone ? "gone" : Date.now() - user.arrived < fresh ? "arriving" : "";
  return html`
    <div role="row" class="row ${kind} ${held ? "held" : ""}" aria-rowindex=${index + 2} aria-hidden=${isLeaving ? "true" : null}
      data-user=${user.user_id} data-index=${index} style=${{ transform: `translateY(${index * height}px)` }}>
      <${Who} state=${state} user=${user} isLeaving=${isLeaving} />
      <span role="cell" class="limit">${user.limit}</span>
      <${MaySpeak} user=${user} isLeaving=${isLeaving} />
      <span role="cell" class="count">${user.count}<span class="unit">×</span></span>
      <span role="cell" class="strikes">${user.strikes}<span class="unit"> ${user.strikes === 1 ? "strike" : "strikes"}</span></span>
      <${Done} user=${user} outcome=${state.changes[user.user_id]} />
      ${mayModerate() && !isLeaving && html`<${Acts} state=${state} user=${user} index=${index} held=${held} />`}
    </div>
  `;
}

/** @param {{state: State, user: User, isLeaving?: boolean}} props */
function Who({ state, user, isLeaving }) {
  const { login, user_id: id } = user;
  const name = nameOf(user);
  const other = login && login.toLowerCase() !== name.toLowerCase() ? login : "";
  return html`
    <span role="cell" class="who" title=${other ? `${name} (${other})` : name}>
      <a id=${isLeaving ? null : controlID(id, "name")} href=${linkTo(state, "people", { user: id })} tabindex=${isLeaving ? "-1" : null}>
        <bdi>${name}</bdi></a>${other && html` <bdi class="login">${other}</bdi>`}
    </span>
  `;
}

/** @param {{user: User, isLeaving?: boolean}} props */
function MaySpeak({ user, isLeaving }) {
  if (user.isGone || isLeaving) return html`<span role="cell" class="may-speak"><span class="left">may write again</span></span>`;
  if (user.never) return html`<span role="cell" class="may-speak"><span class="left">too long for this limit; a shorter message may pass</span></span>`;
  const at = Date.parse(user.may_speak_at);
  return html`
    <span role="cell" class="may-speak">
      <${RefillBar} key=${user.since + user.may_speak_at} since=${Date.parse(user.since)} until=${at} />
      <span class="left">in ${wait(at - asOf())}</span>
      <time datetime=${user.may_speak_at}>${upcoming(at)}</time>
    </span>
  `;
}

// Done shows the last action: chatguard's action on the user's last message, or a later change by
// this moderator.
/** @param {{user: User, outcome?: Outcome}} props */
function Done({ user, outcome }) {
  const { word, kind, detail } = outcome && outcome.at >= Date.parse(user.at) ? changeWords(outcome) : outcomeWords(user);
  return html`<span role="cell" class="deed ${kind}" title=${detail || null}>${word}${detail && html`<span class="detail">: ${detail}</span>`}</span>`;
}

/** @param {Outcome} outcome */
function changeWords(outcome) {
  const { busy, problem, done, sentence, isPartial, isSaved } = outcome;
  if (busy) return { word: "saving…", kind: "off", detail: "" };
  if (problem) return { word: "refused", kind: "bad", detail: problem };
  return { word: done, kind: kindOf(outcome), detail: isSaved ? (isPartial ? sentence : "") : "not saved yet" };
}

// Acts shows four buttons if there is room, otherwise one button that opens a menu of them. Below
// the row, it shows the open question.
/** @param {{state: State, user: User, index: number, held: Held | null}} props */
function Acts({ state, user, index, held }) {
  const asks = held?.asks;
  return html`
    <div role="cell" class="acts">
      ${roomy.matches
        ? html`<${Actions} user=${user} index=${index} asks=${asks} />`
        : html`<${Action} user=${user} name="menu" does="More" about="More actions for ${nameOf(user)}" isOpen=${asks === "menu"} act=${() => ask(user, index, "menu")} />`}
      ${asks && html`<${RowQuestion} state=${state} user=${user} held=${held} />`}
    </div>
  `;
}

// RefillBar fills from the time of the first throttled message to the time when its author may
// write again. The browser animates it. Its key must consist of both times, because a running
// animation can't be changed.
/** @param {{since: number, until: number}} props */
function RefillBar({ since, until }) {
  const [style] = useState(() => ({ animationDuration: `${until - since}ms`, animationDelay: `${since - now()}ms` }));
  return html`<span class="refill" aria-hidden="true"><span class="filled" style=${style}></span></span>`;
}
