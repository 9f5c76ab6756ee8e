// @ts-check
// The dashboard: reads the address, draws the state, keeps the live feed open.

import { loadTexts, t } from "../../text/text.js";
import { html, render } from "../../vendor/htm-preact.js";
import { Problem, request } from "../core/api.js";
import "../core/clicks.js";
import { isSeen } from "../core/focus.js";
import { restore } from "../core/preferences.js";
import { fragment, isMissing, parse } from "../core/route.js";
import { ifSignedOut, signIn } from "../core/session.js";
import { onChange, state, update } from "../core/state.js";
import { hasDraft } from "../limits/form.js";
import { watchAlerts } from "./alerts.js";
import { OpenDialog } from "./dialogs.js";
import { FirstRun } from "./first-run.js";
import { Banners, Header } from "./header.js";
import { press } from "./keys.js";
import { choose, retryNow, stop, watch } from "./live.js";
import { MissingPage } from "./missing-page.js";
import { loadAll, pageOf } from "./pages.js";
import { SignInPage } from "./sign-in.js";
import { entitle } from "./title.js";
/** @import { State } from "../core/state.js" */

/** @param {{state: State}} props */
function App({ state }) {
  if (state.session === "unknown") return null;
  if (state.session === "out") return html`<${SignInPage} state=${state} onSignedIn=${enter} />`;
  if (state.me.first_run) return html`<${FirstRun} console=${state.me.first_run.console} onEntered=${enter} />`;
  const Page = isMissing(state) ? MissingPage : pageOf(state.channel === "" && state.route !== "admin" ? "waiting" : state.route);
  return html`
    <a class="skip" href="#main" onClick=${skip}>${t("shell.skip")}</a>
    <div class="shell">
      <${Header} state=${state} />
      <main id="main" tabindex="-1">
        <${Banners} state=${state} />
        <${Page} state=${state} />
      </main>
    </div>
    <${OpenDialog} state=${state} />
    <p class="unseen" aria-live="polite">${state.announcement}</p>
  `;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault(); // the fragment is the route
  document.getElementById("main").focus();
}

const whenIdle = globalThis.requestIdleCallback ?? setTimeout; // Safari has only timers

// savesData reports whether the person has asked the browser to save data.
const savesData = () => /** @type {any} */ (navigator).connection?.saveData === true;

const passing = new Set([0, 503]); // temporary: no answer, or the database is failing

// enter fetches what the pages need after signing in.
async function enter() {
  try {
    const [me, { body }] = await Promise.all([request("GET", "/session"), request("GET", "/channels")]);
    update((s) => {
      s.session = "in";
      s.me = me.body;
      s.channels = body.channels;
      s.unidentified = body.unidentified ?? [];
      s.channel = null;
    });
    await show();
    if (!savesData()) whenIdle(loadAll);
  } catch (problem) {
    if (ifSignedOut(problem)) return;
    update((s) => {
      s.session = "out";
      s.signIn = { busy: false, error: problem.message, mounted: problem.mounted };
    });
    if (problem instanceof Problem && passing.has(problem.status)) setTimeout(() => state.session === "in" || enter(), 2000);
  }
}

// show shows the page that the address bar names. A sign-in link signs in first.
async function show() {
  const { page, isUnknown, channel, query, code } = parse(location.hash);
  if (code) {
    history.replaceState(null, "", fragment("now")); // the code must not stay in the address bar
    await signIn({ code });
    await enter(); // a signed-in user stays signed in, even if the link was used before
    return;
  }
  if (isNewEntry() && (page !== state.route || channel !== state.wanted || query.user !== state.query.user)) scrollTo(0, 0);
  update((s) => {
    s.route = page;
    s.isUnknown = isUnknown;
    s.query = query;
    s.wanted = channel;
  });
  if (state.session === "in" && !state.me.first_run) choose();
}

// isNewEntry reports whether the entry in the browser's history is shown for the first time, and
// marks it. When someone returns to an entry, the browser restores its scroll position.
function isNewEntry() {
  const isNew = history.state === null;
  if (isNew) history.replaceState("shown", "");
  return isNew;
}

onChange((s) => {
  if (s.session === "out") stop();
  entitle(s);
  render(html`<${App} state=${s} />`, document.getElementById("app"));
  focusWanted(s);
});

/** @param {State} s */
function focusWanted(s) {
  const wanted = s.focus && document.getElementById(s.focus);
  if (!wanted) return;
  s.focus = "";
  wanted.focus({ preventScroll: isSeen(wanted) }); // or what is under the pointer may move
}

await loadTexts("shell", "now", "widgets", "words"); // drawing needs them
addEventListener("hashchange", show);
addEventListener("themechange", () => update(() => {})); // a name's colour depends on the theme
addEventListener("storage", restore); // chosen in another window
addEventListener("online", retryNow);
addEventListener("beforeunload", (event) => hasDraft() && event.preventDefault()); // the browser asks before it closes the page
document.addEventListener("visibilitychange", () => document.hidden || retryNow());
document.addEventListener("keydown", press);
setInterval(() => {
  watch();
  watchAlerts(state);
  if (!document.hidden) update(() => {}); // countdowns continue
}, 1000);

restore();
if (parse(location.hash).code) show();
else enter();
