// @ts-check
// The lists of tokens, sign-in links and sessions. Each can be ended after a question.

import { commas, rich, sentences, t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { channelName, state } from "../core/state.js";
import { sent } from "./sent.js";
import { Question } from "../widgets/question.js";
import { accessName } from "../words/access.js";
import { stamp, toMinute } from "../words/time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { Grants, Link, Session, Token } from "./access.js" */

/** @typedef {() => void} Again loads the lists again */

/** @param {{grants: Grants, again: Again}} props */
export function AccessList({ grants: { tokens, links, sessions, session: own }, again }) {
  return html`
    <${Part} id="tokens" title=${t("admin.tokens")} none=${t("admin.no-tokens")} rows=${tokens.map((token) => html`
      <${Row} key=${token.name} who=${token} about=${aboutToken(token)} path=${`/tokens/${encodeURIComponent(token.name)}`}
        ends=${t("admin.end-token", { name: token.name })} asks=${rich("admin.end-token-question", { name: html`<bdi>${token.name}</bdi>` })} again=${again} />`)} />
    ${links.length > 0 && html`
      <${Part} id="links" title=${t("admin.links")} none="" rows=${links.map((link) => html`
        <${Row} key=${link.id} who=${link} about=${t("admin.link-expires", { time: toMinute(Date.parse(link.expires)) })} path=${`/links/${link.id}`}
          ends=${t("admin.end-link", { name: link.name })} asks=${rich("admin.end-link-question", { name: html`<bdi>${link.name}</bdi>` })} again=${again} />`)} />`}
    <${Part} id="sessions" title=${t("admin.sessions")} none=${t("admin.no-sessions")} rows=${sessions.map((session) => html`
      <${Row} key=${session.id} who=${session} isOwn=${session.id === own} about=${aboutSession(session)} path=${`/sessions/${session.id}`}
        ends=${t("admin.end-session", { name: session.name })}
        asks=${session.id === own ? t("admin.end-own-question") : rich("admin.end-session-question", { name: html`<bdi>${session.name}</bdi>` })} again=${again} />`)} />
  `;
}

/** @param {{id: string, title: string, none: string, rows: Value[]}} props */
function Part({ id, title, none, rows }) {
  return html`
    <section class="part" aria-labelledby=${`access-${id}`}>
      <h3 id=${`access-${id}`}>${title}</h3>
      ${rows.length > 0 ? html`<ul class="grants">${rows}</ul>` : html`<p class="muted">${none}</p>`}
    </section>
  `;
}

/**
 * @param {{who: Token | Link | Session, isOwn?: boolean, about: string, path: string, ends: string, asks: Value, again: Again}} props
 *   ends labels the button for screen readers; asks is the question before it ends
 */
function Row({ who, isOwn, about, path, ends, asks, again }) {
  const [isAsked, ask] = useState(false);
  const [{ isBusy, problem }, setSending] = useState({ isBusy: false, problem: "" });
  const opener = "end-" + path;
  const end = async () => {
    if (isBusy) return;
    setSending({ isBusy: true, problem: "" });
    const outcome = await sent("DELETE", path);
    setSending({ isBusy: false, problem: outcome.problem });
    if (outcome.body) again();
  };
  return html`
    <li>
      <div class="grant">
        <p><strong><bdi>${who.name}</bdi></strong> <span class="chip">${accessName(who.access)}</span> ${isOwn && html`<span class="chip good">${t("admin.this-browser")}</span>`}</p>
        <p class="muted">${about}</p>
      </div>
      ${isAsked
        ? html`<${Question} label=${ends} opener=${opener} yes=${t("admin.end-it")} no=${t("admin.keep")} isBusy=${isBusy} act=${end} close=${() => ask(false)}>${asks}<//>`
        : html`<button type="button" id=${opener} aria-label=${ends} onClick=${() => ask(true)}>${t("admin.end")}</button>`}
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
    </li>
  `;
}

/** @param {Token} token */
function aboutToken({ made, expires, used }) {
  return sentences(
    t("admin.made", { time: stamp(Date.parse(made)) }), expires ? t("admin.token-expires", { time: stamp(Date.parse(expires)) }) : t("admin.token-stays"), usedWords(used),
  );
}

/** @param {Session} session */
function aboutSession({ from, begun, expires, used, channels }) {
  return sentences(
    t("admin.begun", { origin: origins[from]?.() ?? from, time: stamp(Date.parse(begun)) }), channels && t("admin.in-channels", { channels: commas(Object.keys(channels).map(channelOf)) }),
    t("admin.session-expires", { time: stamp(Date.parse(expires)) }), usedWords(used),
  );
}

/** @param {string} [used] */
const usedWords = (used) => (used ? t("admin.used", { time: toMinute(Date.parse(used)) }) : t("admin.unused"));

/** @type {Record<string, () => string>} */
const origins = {
  owner: () => t("admin.from-owner"), link: () => t("admin.from-link"), token: () => t("admin.from-token"), twitch: () => t("admin.from-twitch"),
};

/** @param {string} id */
function channelOf(id) {
  const channel = state.channels.find((one) => one.id === id);
  return channel ? "#" + channelName(channel) : id;
}
