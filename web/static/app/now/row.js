// @ts-check
// One row of the list of throttled users. Its first line is about the user, its second line is the
// message.

import { sentences, t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { asOf, inForce, isLimited, isStanding, loginOf, mayHelp, nameOf, now, waitsWithSame } from "../core/state.js";
import { deedOf } from "./deed.js";
import { ask, controlID } from "./question.js";
import { Actions } from "./row-actions.js";
import { RowQuestion } from "./row-question.js";
import { countOf } from "./view.js";
import { annotated } from "../widgets/annotated.js";
import { Name, Roles } from "../widgets/chatter.js";
import { Icon } from "../widgets/icon.js";
import { repeatsSaid } from "../words/repeats.js";
import { silenceDone } from "../words/silence.js";
import { stamp, upcoming, wait } from "../words/time.js";
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
      <${Done} user=${user} />
      <span role="cell" class="limit" title=${user.limit && !user.observed ? t("now.throttled-by", { limit: user.limit }) : null}><bdi>${user.limit}</bdi></span>
      <span role="cell" class="count" title=${count > 0 && !user.observed ? t("now.throttled-since", { n: count, time: since }) : null}>${count > 0 && html`${count}<span class="unit">×</span>`}</span>
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

// MaySpeak says when the user may write again: after any timeout or ban, and after all limits unless
// they only observe. Its tooltip says which of them decides that.
/** @param {{user: User, isLeaving?: boolean}} props */
function MaySpeak({ user, isLeaving }) {
  const silence = inForce(user.silenced), limited = isLimited(user);
  if (!silence && (user.leaving || ((user.isGone || isLeaving) && !isStanding(user)))) return html`<${Left} word=${t("now.may-write")} />`;
  if (silence?.banned) return html`<${Left} word=${t("now.until-unbanned")} title=${silenceDone(silence)} />`;
  if (!isStanding(user)) {
    const time = wait(asOf() - Date.parse(user.at));
    return html`<${Left} word=${t("now.ago", { time })} title=${user.observed ? null : t("now.throttled-ago", { time })} />`;
  }
  if (!limited && !silence) return html`<${Left} word=${t("now.may-write-now")} />`;
  if (limited && user.never) return html`<${Left} word=${t("now.never")} title=${t("now.throttled-by", { limit: user.limit })} />`;
  const until = limited ? user.until : Date.parse(silence.until);
  const isTimeout = silence && Math.abs(Date.parse(silence.until) - until) < 1000; // the longest of all
  const isSame = waitsWithSame(user), when = t("now.in", { time: wait(until - asOf()) });
  const since = isTimeout && silence.at ? silence.at : user.since;
  const title = isTimeout ? silenceDone(silence) : isSame ? sameAgain(user) : t("now.throttled-by", { limit: user.limit });
  return html`
    <span role="cell" class="may-speak" title=${title}>
      ${!isSame && html`<${RefillBar} key=${since + until} since=${Date.parse(since)} until=${until} />`}
      <span class="left">${isSame ? t("now.same-again", { when }) : annotated("writes", "now.writes-again", { when })}</span>
      <time datetime=${new Date(until).toISOString()}>${upcoming(until)}</time>
    </span>
  `;
}

// sameAgain says that only the same message has to wait and, if known, how often it was written.
/** @param {User} of */
const sameAgain = ({ limit, repeats }) => sentences(t("now.same-again-about", { limit }), repeatsSaid(repeats));

/** @param {{word: string, title?: string}} props */
const Left = ({ word, title }) => html`<span role="cell" class="may-speak" title=${title ?? null}><span class="left">${word}</span></span>`;

// Text shows the message that was throttled last. It is a button that shows the messages around it.
// A user who was only timed out or banned has none.
/** @param {{user: User, index: number, asks?: string, isLeaving?: boolean}} props */
function Text({ user, index, asks, isLeaving }) {
  const { text, user_id: id, outcome: { entry } } = user;
  if (!entry) return html`<span role="cell" class="said muted">${t("now.no-message")}</span>`;
  return html`
    <span role="cell" class="said">
      <button type="button" class="text-button" id=${isLeaving ? null : controlID(id, "around")} aria-expanded=${String(asks === "around")} tabindex=${isLeaving ? "-1" : null}
        title=${t("now.around")} onClick=${() => ask(user, index, "around")}>
        ${text ? html`<bdi>${text.slice(0, clipped)}</bdi>` : html`<span class="muted">${t("now.no-text")}</span>`}
      </button>
    </span>
  `;
}

// Done shows what was last done to the user, and by whom.
/** @param {{user: User}} props */
function Done({ user }) {
  const { word, kind, detail, title = detail ? `${word}: ${detail}` : word } = deedOf(user);
  return html`
    <span role="cell" class="deed" title=${title || null}>
      ${word && html`<span class="chip ${kind}">${kind === "failed" && html`<${Icon} name="alert" />`}${word}</span>`}${detail && html`<span class="detail">: ${detail}</span>`}
    </span>
  `;
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
