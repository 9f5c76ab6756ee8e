// @ts-check
// The buttons of a row that act on its user.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { mayAct, nameOf, state, timeoutsHere } from "../core/state.js";
import { silenceNow } from "./deed.js";
import { ask, controlID, pardon, timeOutUsually } from "./question.js";
import { Icon } from "../widgets/icon.js";
import { liftNames, silenceDone, timeoutName, timeoutsByLength } from "../words/silence.js";
/** @import { User } from "../core/state.js" */

// wide is true if a row has room for its most important actions.
export const wide = matchMedia("(min-width: 980px)"); // as in style/now.css

// asking returns the properties of a button that opens a question.
/** @param {User} user @param {number} index @param {string} action @param {string} [asks] the open question */
const asking = (user, index, action, asks) => ({ user, name: action, isOpen: asks === action, act: () => ask(user, index, action) });

// Actions shows the most important buttons of a row, and the one that opens the menu with all
// others. Each has its place, whatever the user's state: one that doesn't apply is disabled, and
// says why.
/** @param {{user: User, index: number, asks?: string}} props */
export function Actions({ user, index, asks }) {
  return html`
    ${wide.matches && html`
      <${Pardon} user=${user} index=${index} />
      ${mayAct() && html`
        <${TimeoutButton} user=${user} index=${index} length=${timeoutsHere().lengths[0]} />
        <${Ending} user=${user} index=${index} asks=${asks} hasWord=${false} />`}`}
    <${Action} ...${asking(user, index, "menu", asks)} icon="more" does=${t("now.more")} hasWord=${false} about=${t("now.more-for", { who: nameOf(user) })} />
  `;
}

/** @param {{user: User, index: number, name?: string}} props */
function Pardon({ user, index, name = "pardon" }) {
  const why = user.total > 0 ? "" : t("now.pardon-nothing");
  return html`
    <${Action} user=${user} name=${name} icon="check" kind="pardon" does=${t("now.pardon")} about=${t("now.pardon-user", { who: nameOf(user) })} why=${why} act=${() => pardon(user, index)} />`;
}

// TimeoutButton times the user out for the channel's usual duration, which is its word.
/** @param {{user: User, index: number, length: string}} props */
function TimeoutButton({ user, index, length }) {
  const word = timeoutName(length);
  return html`
    <${Action} user=${user} name="timeout" icon="clock" kind="length" does=${word} about=${t("now.timeout-for", { who: nameOf(user), length: word })} why=${whyNoTimeout(user)}
      act=${() => timeOutUsually(user, index, length)} />`;
}

// whyNoTimeout says why the user can't be timed out now.
/** @param {User} user */
export const whyNoTimeout = (user) => (silenceNow(user)?.banned ? t("now.timeout-banned") : "");

// Ending shows the buttons for a ban, and for the end of a timeout or ban.
/** @param {{user: User, index: number, asks?: string, hasWord: boolean}} props */
function Ending({ user, index, asks, hasWord }) {
  const who = nameOf(user), silence = silenceNow(user);
  const { opener, about } = liftNames(silence);
  return html`
    <${Action} ...${asking(user, index, "ban", asks)} icon="ban" hasWord=${hasWord} does=${t("now.ban")} about=${t("now.ban-user", { who })} why=${silence?.banned ? silenceDone(silence) : ""} />
    <${Action} ...${asking(user, index, "lift", asks)} icon="play" hasWord=${hasWord} does=${silence ? opener : t("now.lift")} about=${silence ? about(who) : t("now.lift-user", { who })}
      why=${silence ? "" : t("now.lift-nothing")} />
  `;
}

// Menu shows the actions for which the row has no room, and timeouts of all usual durations. The
// first one gets the focus.
/** @param {{user: User, index: number, isBusy: string}} props */
export function Menu({ user, index, isBusy }) {
  const who = nameOf(user), card = twitchCard(user), acts = mayAct();
  return html`
    ${!wide.matches && html`<${Pardon} user=${user} index=${index} name="first" />`}
    ${acts && html`
      <${Lengths} user=${user} index=${index} first=${wide.matches ? controlID(user.user_id, "first") : ""} isBusy=${isBusy} />
      <${Action} ...${asking(user, index, "timeout")} name="other" does=${t("now.timeout")} icon="clock" about=${t("now.timeout-user", { who })} why=${whyNoTimeout(user)} />
      ${!wide.matches && html`<${Ending} user=${user} index=${index} hasWord />`}`}
    <${Action} ...${asking(user, index, "grant")} name=${wide.matches && !acts ? "first" : "grant"} does=${t("now.grant")} icon="grant" about=${t("now.grant-user", { who })} />
    <${Action} ...${asking(user, index, "exempt")} does=${t("now.exempt")} icon="exempt" about=${t("now.exempt-user", { who })} />
    <${Action} ...${asking(user, index, "reset")} does=${t("now.reset")} icon="reset" about=${t("now.reset-user", { who })} />
    <hr />
    <a href=${linkTo(state, "people", { user: user.user_id })}><${Icon} name="people" />${t("now.open-card")}</a>
    ${card && html`<a href=${card} target="_blank" rel="noopener"><${Icon} name="external-link" />${t("now.twitch-card")}<span class="unseen">${t("now.new-window")}</span></a>`}
  `;
}

// Lengths are timeouts of the usual durations, which act at once.
/** @param {{user: User, index: number, first: string, isBusy: string}} props */
function Lengths({ user, index, first, isBusy }) {
  const who = nameOf(user), why = whyNoTimeout(user);
  return html`
    <div class="tabs lengths" role="group" aria-label=${t("now.timeout-user", { who })} title=${why || null}>
      ${timeoutsByLength(timeoutsHere().lengths).map(({ length, name }, i) => html`
        <button type="button" id=${i === 0 && first ? first : null} aria-disabled=${why ? "true" : isBusy} onClick=${() => why || timeOutUsually(user, index, length)}>${name}</button>`)}
    </div>`;
}

// twitchCard returns the address of a user's card on Twitch, or "" in another chat.
/** @param {User} user */
function twitchCard({ channel, login }) {
  const room = state.channels.find(({ id }) => id === channel);
  const isTwitch = !state.me.mounted && !channel.startsWith("check:") && state.status?.connections.some(({ name }) => name === "Twitch");
  return isTwitch && room?.login && login ? `https://www.twitch.tv/popout/${encodeURIComponent(room.login)}/viewercard/${encodeURIComponent(login)}` : "";
}

// Action is one button, with a word unless hasWord is false. isOpen says whether its question is
// open; it is undefined if the button opens none. why says why the action isn't possible.
/**
 * @param {{user: User, name: string, icon?: string, kind?: string, hasWord?: boolean, does: string, about: string, why?: string, isOpen?: boolean, act: () => void}} props
 */
function Action({ user, name, icon, kind = "", hasWord = true, does, about, why = "", isOpen, act }) {
  return html`
    <button type="button" class="${hasWord ? "quiet" : "icon-only"} ${kind}" id=${controlID(user.user_id, name)} aria-label=${why ? `${about}: ${why}` : about} title=${why || (hasWord && !kind ? null : about)}
      aria-disabled=${why ? "true" : null} aria-expanded=${isOpen === undefined ? null : String(isOpen)} onClick=${why ? null : act}>${icon && html`<${Icon} name=${icon} />`}${hasWord && html`<span class="word">${does}</span>`}</button>
  `;
}
