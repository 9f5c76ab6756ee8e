// @ts-check
// The head of the page: scenes, new lanes, the link, the lanes as code, and the way back to a
// channel's limits.

import { t } from "../text/text.js";
import { html, useState } from "../vendor/htm-preact.js";
import { Icon } from "../app/widgets/icon.js";
import { LanguageChoice } from "../app/widgets/language-choice.js";
import { algorithmNames, algorithmOf } from "../app/words/algorithms.js";
import { durationText } from "../app/words/lengths.js";
import { go, json, toml } from "./copy.js";
import { addLane } from "./edit.js";
import { KnownLanes } from "./known.js";
import { mostLanes, newLimit } from "./limits.js";
import { say } from "./log.js";
import { clock } from "./player.js";
import { lab } from "./state.js";
/** @import { Scene } from "./scenes.js" */
/** @import { More, Setup } from "./state.js" */

/** @param {{lab: Setup & More, openScene: (link: string) => void}} props */
export function Head({ lab, openScene }) {
  const { lanes, isDashboard } = lab;
  return html`
    <header class="lab-head">
      <a class="brand" href=${isDashboard ? "./" : "#"}><img src="favicon.svg" alt="" width="24" height="24" /><span>chatguard</span></a>
      <h1>${t("lab.title")}</h1>
      <${Scenes} openScene=${openScene} />
      <${Menu} id="add" icon="plus" text=${t("lab.add-lane")} isOff=${lanes.length >= mostLanes || Boolean(lab.story?.view)} why=${lanes.length >= mostLanes ? t("lab.most-lanes", { most: mostLanes }) : ""}>
        ${algorithmNames().map((name) => html`
          <button type="button" key=${name} id=${`add-${name}`} popovertarget="add-menu" popovertargetaction="hide" onClick=${() => addLane([newLimit(name)])}>
            <span>${algorithmOf({ algorithm: name }).name}<br /><span class="muted">${algorithmOf({ algorithm: name }).about}</span></span>
          </button>`)}
        <${KnownLanes} />
      <//>
      <span class="spread"></span>
      <${Share} />
      <${Menu} id="copy" icon="copy" text=${t("lab.copy-as")} isOff=${lanes.length === 0}>
        ${Object.entries({ TOML: toml, Go: go, JSON: json }).map(([name, write]) => html`
          <button type="button" key=${name} id=${`copy-${name.toLowerCase()}`} popovertarget="copy-menu" popovertargetaction="hide" onClick=${() => copy(write(lanes), t("lab.copied-as", { language: name }))}>${name}</button>`)}
      <//>
      ${!isDashboard && html`<${LanguageChoice} label=${t("shell.language")} />`}
      ${isDashboard && lanes.length > 0 && html`<a class="button primary" id="use" href=${useLink(lab)}>${t("lab.use")}</a>`}
      ${isDashboard && html`<a class="button" href="./#/limits">${t("lab.dashboard")}</a>`}
    </header>
  `;
}

// useLink returns the address of the page Limits with the numbers of a lane filled in: the lane
// that is being edited, or else the last one. With recorded traffic, the page shows its channel.
/** @param {Setup & More} of */
export function useLink({ lanes, edited, traffic }) {
  const { limits } = lanes.find(({ id }) => id === edited) ?? lanes.at(-1);
  const texts = limits.map(({ name, algorithm, ...rest }) => {
    const numbers = Object.entries(rest).filter(([, value]) => typeof value !== "object").map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
    return `${encodeURIComponent(name)}:${[algorithm, ...numbers].join(",")}`;
  });
  const channel = traffic.kind === "recorded" && traffic.channel ? `channel=${encodeURIComponent(traffic.channel)}&` : "";
  return `./#/limits?${channel}try=${texts.join(";")}`;
}

// copy copies a text, announces done, and returns whether the browser allowed it.
/** @param {string} text @param {string} done */
async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
    return true;
  } catch {
    say(t("lab.not-copied"));
    return false;
  }
}

const shown = 2000; // ms

// linkNow returns the link of the scene. If the scene is paused, the link opens it at the same
// time.
function linkNow() {
  if (lab.story?.view || clock.isPlaying()) return location.href;
  return `${location.href}&at=${durationText(BigInt(Math.round(clock.now())) * 1_000_000n)}`;
}

function Share() {
  const [isCopied, tell] = useState(/** @type {boolean | null} */ (null));
  const share = async () => {
    tell(await copy(linkNow(), t("lab.link-copied")));
    setTimeout(() => tell(null), shown);
  };
  const text = isCopied === null ? t("lab.share") : isCopied ? t("lab.shared") : t("lab.share-by-hand");
  return html`<button type="button" id="share" title=${t("lab.share-about")} onClick=${share}><${Icon} name=${isCopied ? "check" : "link"} />${text}</button>`;
}

/** @param {{id: string, icon: string, text: string, isOff?: boolean, why?: string, onOpen?: () => void, children?: any}} props */
function Menu({ id, icon, text, isOff, why, onOpen, children }) {
  return html`
    <div class="menu-of">
      <button type="button" id=${id} popovertarget=${`${id}-menu`} disabled=${isOff} title=${why || null} onClick=${onOpen}><${Icon} name=${icon} />${text}<${Icon} name="chevron-down" /></button>
      <div id=${`${id}-menu`} class="menu lab-menu" popover="auto">${children}</div>
    </div>
  `;
}

/** @param {{openScene: (link: string) => void}} props */
function Scenes({ openScene }) {
  const [scenes, show] = useState(/** @type {(Scene & {link: string})[]} */ ([]));
  const load = async () => {
    const { linkOf, scenes } = await import("./scenes.js");
    show(scenes.map((scene) => ({ ...scene, link: linkOf(scene) })));
  };
  return html`
    <${Menu} id="scenes" icon="play" text=${t("lab.scenes")} onOpen=${load}>
      ${scenes.map(({ id, title, link, view }, i) => html`
        ${view && !scenes[i - 1].view && html`<hr key="experiments" />`}
        <button type="button" key=${id} id=${`scene-${id}`} popovertarget="scenes-menu" popovertargetaction="hide" onClick=${() => openScene(link)}><span class="muted">${view ? html`<${Icon} name="pulse" />` : i + 1}</span>${t(title)}</button>`)}
    <//>
  `;
}
