// @ts-check
// The header of every page: pages, channel, the state of chatguard, and the signed-in user. It is a
// sidebar in wide windows.

import { commas, sentences, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { openDialog } from "../core/dialog.js";
import { fragment, isMissing, labPage, linkTo, pages, shownPages } from "../core/route.js";
import { channelName } from "../core/state.js";
import { Account } from "./account.js";
import { pageIcons } from "./commands.js";
import { commandKey } from "./keys.js";
import { retryNow } from "./live.js";
import { Status } from "./states.js";
import { Icon } from "../widgets/icon.js";
import { clock } from "../words/time.js";
/** @import { State } from "../core/state.js" */

/** @param {{state: State}} props */
export function Header({ state }) {
  return html`
    <header>
      <a class="brand" href=${linkTo(state, "now")}><img src="favicon.svg" alt="" width="24" height="24" /><span>chatguard</span></a>
      <${ChannelPicker} state=${state} />
      <button type="button" class="seek" title=${t("shell.seek")} onClick=${() => openDialog("palette")}>
        <${Icon} name="search" /><span>${t("shell.search")}</span><span class="keys" aria-hidden="true"><kbd>${commandKey()}</kbd><kbd>K</kbd></span>
      </button>
      <nav aria-label=${t("shell.pages")}>
        ${shownPages().map((page) => html`
          <a href=${linkTo(state, page)} aria-current=${page === state.route && !isMissing(state) ? "page" : null}>
            <${Icon} name=${pageIcons[page]} /><span>${pages[page]}</span>
          </a>
        `)}
        <a href=${labPage}><${Icon} name="flask" /><span>${t("shell.page-lab")}</span></a>
      </nav>
      <div class="foot">
        <${Status} state=${state} />
        <${Account} state=${state} />
      </div>
    </header>
  `;
}

/** @param {{state: State}} props */
function ChannelPicker({ state: { channels, unidentified, channel, route } }) {
  if (channels.length === 0) return html`<span class="channel muted">${commas(unidentified.map(({ login }) => `#${login}`)) || t("shell.no-channel")}</span>`;
  if (channels.length === 1 && unidentified.length === 0) return html`<span class="channel" title="#${channelName(channels[0])}">#<bdi>${channelName(channels[0])}</bdi></span>`;
  /** @param {{target: HTMLSelectElement}} event */
  const pick = (event) => (location.hash = fragment(route, event.target.value));
  return html`
    <label class="channel"><span class="unseen">${t("shell.channel")}</span>
      <select value=${channel} onChange=${pick}>
        ${channels.map((one) => html`<option value=${one.id} selected=${one.id === channel}>#${channelName(one)}</option>`)}
        ${unidentified.map(({ login, reason }) => html`<option key=${login} disabled>${t("shell.connection", { name: `#${login}`, state: reason === "joining" ? t("shell.state-connecting") : t("shell.state-unread") })}</option>`)}
      </select>
    </label>
  `;
}

// Banners say what concerns the whole page: the data shown is old, or signing out failed.
/** @param {{state: State}} props */
export function Banners({ state: { feed, problem } }) {
  return html`
    <div class="banners">
      ${problem && html`<p class="banner" role="alert"><${Icon} name="alert" /><span>${problem}</span></p>`}
      ${feed.state === "lost" && html`
        <div class="banner lost" role="alert">
          <${Icon} name="alert" />
          <p>
            <strong>${feed.why ? t("shell.no-updates") : t("shell.lost")}</strong>${" "}
            ${sentences(feed.why && t("shell.sentence", { what: feed.why }), feed.lastFrame > 0 && t("shell.old-data", { time: clock(feed.lastFrame) }), t("shell.reconnecting"))}
          </p>
          <button onClick=${retryNow}>${t("shell.retry-now")}</button>
        </div>`}
    </div>
  `;
}
