// @ts-check
// One row of the list of throttled users. Its first line is about the user, its second line is the
// message.

import { t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { asOf, isStanding, loginOf, mayHelp, nameOf, now } from "../core/state.js";
import { ask, controlID } from "./question.js";
import { Actions, RowQuestion } from "./row-question.js";
import { countOf } from "./view.js";
import { annotated } from "../widgets/annotated.js";
import { Name, Roles } from "../widgets/chatter.js";
import { Icon } from "../widgets/icon.js";
import { outcomeWords } from "../words/penalties.js";
import { stamp, upcoming, wait } from "../words/time.js";
/** @import { Outcome } from "../changes/user.js" */
/** @import { State, User } from "../core/state.js" */
/** @import { Held } from "./held-row.js" */
/** @import { View } from "./view.js" */

const fresh = 1000; // how long a row shows as arriving, ms
const clipped = 300; // characters of a message in a row
const animated = 30_000; // the longest wait whose bar is animated, ms

// userRow returns the view of a row. It isn't a component: if several rows were removed, Preact
// would move all rows below them.
/**
 * @param {{state: State, user: User, tab: View["tab"], index: number, height: number, held: Held | null, isLeaving?: boolean}} of
 */
export function userRow({ state, user, tab, index, height, held, isLeaving }) {
  const kind = isLeaving ? "leaving" : user.isGone ? "gone" : Date.now() - user.arrived < fresh ? "arriving" : "";
  const count = countOf(user, tab);
  const since = stamp(Date.parse(tab === "held" ? user.since : user.first));
  return html`
    <div key=${user.user_id} role="row" class="row ${kind} ${held ? "held" : ""}" aria-rowindex=${index + 2} aria-hidden=${isLeaving ? "true" : null}
      data-user=${user.user_id} data-index=${index} style=${{ transform: `translateY(${index * height}px)` }}>
      <${Who} state=${state} user=${user} isLeaving=${isLeaving} />
      <${Done} user=${user} outcome=${state.changes[user.user_id]} />
      <span role="cell" class="limit" title=${t("now.throttled-by", { limit: user.limit })}><bdi>${user.limit}</bdi></span>
      <span role="cell" class="count" title=${t("now.throttled-since", { n: count, time: since })}>${count}<span class="unit">×</span></span>
      <span role="cell" class="strikes">${annotated("unit", "now.strikes", { n: user.strikes })}</span>
      <${MaySpeak} user=${user} isLeaving=${isLeaving} />
      <${Text} user=${user} index=${index} asks=${held?.asks} isLeaving=${isLeaving} />
      ${mayHelp() && !isLeaving && html`<div role="cell" class="acts"><${Actions} user=${user} index=${index} asks=${held?.asks} /></div>`}
      ${held?.asks && html`<div role="cell" class="below"><${RowQuestion} state=${state} user=${user} held=${held} /></div>`}
    </div>
  `;
}

/** @param {{state: State, user: User, isLeaving?: boolean}} props */
function Who({ state, user, isLeaving }) {
  const { user_id: id } = user;
  const name = nameOf(user), other = loginOf(user);
  return html`
    <span role="cell" class="who" title=${other ? `${name} (${other})` : name}>
      <${Roles} roles=${user.roles} />
      <a id=${isLeaving ? null : controlID(id, "name")} href=${linkTo(state, "people", { user: id })} tabindex=${isLeaving ? "-1" : null}>
        <${Name} user=${user} /></a>${other && html` <bdi class="login">${other}</bdi>`}
    </span>
  `;
}

/** @param {{user: User, isLeaving?: boolean}} props */
function MaySpeak({ user, isLeaving }) {
  if (user.isGone || isLeaving) return html`<span role="cell" class="may-speak"><span class="left">${t("now.may-write")}</span></span>`;
  if (!isStanding(user)) {
    const time = wait(asOf() - Date.parse(user.at));
    return html`<span role="cell" class="may-speak" title=${t("now.throttled-ago", { time })}><span class="left">${t("now.ago", { time })}</span></span>`;
  }
  if (user.never) return html`<span role="cell" class="may-speak"><span class="left">${t("now.never")}</span></span>`;
  const at = user.until;
  return html`
    <span role="cell" class="may-speak">
      <${RefillBar} key=${user.since + user.may_speak_at} since=${Date.parse(user.since)} until=${at} />
      <span class="left">${annotated("writes", "now.writes-again", { when: t("now.in", { time: wait(at - asOf()) }) })}</span>
      <time datetime=${user.may_speak_at}>${upcoming(at)}</time>
    </span>
  `;
}

// Text shows the message that was throttled last. It is a button that shows the messages around it.
/** @param {{user: User, index: number, asks?: string, isLeaving?: boolean}} props */
function Text({ user, index, asks, isLeaving }) {
  const { text, user_id: id } = user;
  return html`
    <span role="cell" class="said">
      <button type="button" class="text-button" id=${isLeaving ? null : controlID(id, "around")} aria-expanded=${String(asks === "around")} tabindex=${isLeaving ? "-1" : null}
        title=${t("now.around")} onClick=${() => ask(user, index, "around")}>
        ${text ? html`<bdi>${text.slice(0, clipped)}</bdi>` : html`<span class="muted">${t("now.no-text")}</span>`}
      </button>
    </span>
  `;
}

// Done shows the last action: chatguard's action on the user's last message, or a later change by
// this moderator.
/** @param {{user: User, outcome?: Outcome}} props */
function Done({ user, outcome }) {
  const changed = outcome && !outcome.isUnsent && outcome.at >= Date.parse(user.at);
  const { word, kind, detail } = changed ? changeWords(outcome) : outcomeWords(user);
  return html`
    <span role="cell" class="deed" title=${detail ? `${word}: ${detail}` : null}>
      <span class="chip ${kind}">${kind === "failed" && html`<${Icon} name="alert" />`}${word}</span>${detail && html`<span class="detail">: ${detail}</span>`}
    </span>
  `;
}

/** @param {Outcome} outcome */
function changeWords(outcome) {
  const { busy, problem, done, sentence, isPartial, isSaved } = outcome;
  if (busy) return { word: t("now.saving"), kind: "pending", detail: "" };
  if (problem) return { word: t("now.refused"), kind: "failed", detail: problem };
  return { word: done, kind: isSaved && !isPartial ? "changed" : "partly", detail: isSaved ? (isPartial ? sentence : "") : t("now.not-saved") };
}

// RefillBar fills from the time of the first throttled message to the time when its author may
// write again. The browser animates a short wait. Its key must consist of both times, because a
// running animation can't be changed. A longer wait moves with each drawing, because an animation
// would keep the processor busy for all that time.
/** @param {{since: number, until: number}} props */
function RefillBar({ since, until }) {
  const length = until - since, past = now() - since;
  const [animation] = useState(() => ({ animationDuration: `${length}ms`, animationDelay: `${-past}ms` }));
  const isShort = length <= animated;
  const style = isShort ? animation : { transform: `scaleX(${Math.min(1, past / length).toFixed(3)})` };
  return html`<span class="refill" aria-hidden="true"><span class="filled ${isShort ? "moving" : ""}" style=${style}></span></span>`;
}
