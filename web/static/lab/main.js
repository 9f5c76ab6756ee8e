// @ts-check
// The Lab: reads the link, draws the page, and keeps the link up to date.

import { comma, loadTexts, rich, t } from "../text/text.js";
import { html, render } from "../vendor/htm-preact.js";
import { Icon } from "../app/widgets/icon.js";
import { Controls } from "./controls.js";
import { loadSite, loadTable } from "./engine.js";
import { Head } from "./head.js";
import { letGo, press } from "./keys.js";
import { Lanes } from "./lanes.js";
import { Log } from "./log.js";
import { fail, onPlayed, open, refresh } from "./player.js";
import { parse, print } from "./share.js";
import { draw, onText } from "./stage.js";
import { change, isMarked, lab, newYear, onChange } from "./state.js";
import { Story } from "./story.js";
import { Figures } from "./table.js";
import { writeTexts } from "./texts.js";
import { withChannel } from "./traffic.js";
import { viewOf } from "./views.js";
/** @import { More, Setup } from "./state.js" */

const usualFrom = 72_000; // ms: so that there is something to see at once
const usual =
  "#lanes=token-bucket,burst=3,refill=4s;leaky-bucket,every=4s,queue=2;fixed-window,messages=15,every=1m;sliding-window,messages=15,every=1m;sliding-log,messages=15,every=1m" +
  "&traffic=bursts,size=6,every=20s&speed=2";

/** @param {{lab: Setup & More}} props */
function Page({ lab }) {
  return html`
    <a class="skip" href="#lanes" onClick=${skip}>${t("lab.skip")}</a>
    <${Head} lab=${lab} openScene=${start} />
    <main id="main">
      ${lab.problem && !isMarked(lab) && html`<${Failed} lab=${lab} />`}
      ${lab.unknown.length > 0 && html`<${Unknown} parts=${lab.unknown} />`}
      ${lab.story && html`<${Story} scene=${lab.story} lab=${lab} />`}
      ${lab.story?.view ? html`<section id="lanes" tabindex="-1" aria-label=${t("lab.experiment")}><${viewOf(lab.story.view)} lab=${lab} /></section>` : html`<${Stage} lab=${lab} />`}
      ${lab.story?.algorithms && html`<${viewOf("advice")} lab=${lab} />`}
    </main>
    <p class="unseen" id="said" aria-live="polite"></p>
  `;
}

// Stage has the lanes, or the two chats if the traffic is a chat.
/** @param {{lab: Setup & More}} props */
function Stage({ lab }) {
  const isChat = lab.traffic.kind === "chat";
  return html`
    <${Controls} lab=${lab} />
    <section id="lanes" tabindex="-1" aria-label=${isChat ? t("lab.chats") : t("lab.lanes")}><${isChat ? viewOf("chat") : Lanes} lab=${lab} /></section>
    ${!isChat && html`
      <p class="legend muted"><span>● ${t("lab.passes")}</span><span>○ ${t("lab.waits")}</span><span>◐ ${t("lab.passes-low")}</span><span>⊖ ${t("lab.throttled")}</span></p>
      <div class="below"><${Figures} lanes=${lab.lanes} /><${Log} /></div>`}
  `;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault(); // the fragment is the scene
  document.getElementById("lanes").focus();
}

/** @param {{lab: Setup & More}} props */
function Failed({ lab: { problem, isSignedOut, lanes } }) {
  const retry = () => (lanes.length > 0 ? refresh() : location.reload());
  return html`
    <p class="banner" role="alert"><${Icon} name="alert" /><span>${problem}</span>
      ${isSignedOut ? html`<a class="button" href="./">${t("lab.sign-in")}</a>` : html`<button type="button" onClick=${retry}>${t("lab.retry")}</button>`}
    </p>
  `;
}

/** @param {{parts: string[]}} props */
function Unknown({ parts }) {
  return html`
    <p class="banner note" id="unknown" role="status"><${Icon} name="alert" />
      <span>${rich("lab.unknown", { n: parts.length, parts: parts.map((part, i) => html`${i > 0 && comma}<code>${part}</code>`) })}</span>
      <button type="button" class="icon-only" aria-label=${t("lab.dismiss")} onClick=${() => change((l) => (l.unknown = []))}><${Icon} name="close" /></button>
    </p>
  `;
}

let printed = ""; // the fragment that the page has written

/** @type {Setup} */
const nothing = { lanes: [], traffic: { kind: "hand" }, sent: [], grants: [], speed: 1, span: 0, start: newYear, timezone: "", move: null, at: null, scene: "" };

// start begins the scene of a fragment. What a link doesn't say comes from the scene that it names.
// A link without a scene and lanes opens the default scene.
/** @param {string} fragment */
async function start(fragment) {
  const { setup, unknown } = parse(fragment);
  const story = setup.scene ? await storyOf(setup.scene, unknown) : null;
  const base = story ? parse(story.fragment).setup : setup.lanes ? {} : parse(usual).setup;
  change((l) => {
    Object.assign(l, nothing, { edited: 0, problem: "", wrong: null, story, isSolved: false, unknown }, base, setup);
    l.traffic = withChannel(l.traffic, l.channels);
  });
  open(fragment.length <= 1 ? usualFrom : NaN);
}

/** @param {string} id @param {string[]} unknown */
async function storyOf(id, unknown) {
  const story = (await import("./scenes.js")).sceneOf(id);
  if (!story) unknown.push(`scene=${id}`);
  return story ?? null;
}

// keepLink writes the scene into the address bar.
function keepLink() {
  const fragment = print(lab);
  if (fragment === printed) return;
  printed = fragment;
  history.replaceState(null, "", fragment);
}

onChange(() => {
  render(html`<${Page} lab=${lab} />`, document.getElementById("app"));
  keepLink();
  draw();
});
onPlayed(draw);
onText(writeTexts);
addEventListener("hashchange", () => location.hash !== printed && start(location.hash));
document.addEventListener("keydown", press);
document.addEventListener("click", letGo);

await loadTexts("lab", "limits", "rules", "shell", "widgets", "words");
try {
  const [{ dashboard, channels }] = await Promise.all([loadSite(), loadTable()]);
  change((l) => Object.assign(l, { isDashboard: dashboard, channels }));
  await start(location.hash);
} catch (problem) {
  fail(problem);
}
