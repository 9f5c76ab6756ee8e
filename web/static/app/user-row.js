// One row of the table of throttled users.

import { html } from "../vendor/htm-preact.js";
import { ask, controlID, nameOf } from "./amending.js";
import { deed } from "./deed.js";
import { RefillBar } from "./refill-bar.js";
import { linkTo } from "./route.js";
import { Action, Actions } from "./row-actions.js";
import { RowQuestion } from "./row-question.js";
import { asOf, mayModerate } from "./state.js";
import { soon, wait } from "./time.js";

const roomy = matchMedia("(min-width: 1400px)"); // as in the style
const fresh = 1000; // so long a row is seen arriving, ms

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
      <${Deed} user=${user} amended=${state.amended[user.user_id]} />
      ${mayModerate() && !isLeaving && html`<${Acts} state=${state} user=${user} index=${index} held=${held} />`}
    </div>
  `;
}

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

function MaySpeak({ user, isLeaving }) {
  if (user.isGone || isLeaving) return html`<span role="cell" class="may-speak"><span class="left">may write again</span></span>`;
  if (user.never) return html`<span role="cell" class="may-speak"><span class="left">too long for this limit; shorter ones may pass</span></span>`;
  const at = Date.parse(user.may_speak_at);
  return html`
    <span role="cell" class="may-speak">
      <${RefillBar} key=${user.since + user.may_speak_at} since=${Date.parse(user.since)} until=${at} />
      <span class="left">in ${wait(at - asOf())}</span>
      <time datetime=${user.may_speak_at}>${soon(at)}</time>
    </span>
  `;
}

// Deed is what was done last: by chatguard about the user's last message, or since then by whoever looks.
function Deed({ user, amended }) {
  const { word, kind, detail } = amended && amended.at >= Date.parse(user.at) ? answer(amended) : deed(user);
  return html`<span role="cell" class="deed ${kind}" title=${detail || null}>${word}${detail && html`<span class="detail">: ${detail}</span>`}</span>`;
}

function answer({ busy, problem, done, sentence, isPartial, isSaved }) {
  if (busy) return { word: "asking…", kind: "off", detail: "" };
  if (problem) return { word: "refused", kind: "bad", detail: problem };
  return { word: done, kind: isSaved && !isPartial ? "good" : "warn", detail: isSaved ? (isPartial ? sentence : "") : "not saved yet" };
}

// Acts are the buttons, four where there is room, one that opens them elsewhere; and below the row what they ask.
function Acts({ state, user, index, held }) {
  const asks = held?.asks;
  return html`
    <div role="cell" class="acts">
      ${roomy.matches
        ? html`<${Actions} user=${user} index=${index} asks=${asks} />`
        : html`<${Action} user=${user} name="menu" does="More" about="More for ${nameOf(user)}" isOpen=${asks === "menu"} act=${() => ask(user, index, "menu")} />`}
      ${asks && html`<${RowQuestion} state=${state} user=${user} held=${held} />`}
    </div>
  `;
}
