// @ts-check
// The page for viewers: asks chatguard about the signed-in viewer, and draws the answers.

import { loadTexts, t } from "../text/text.js";
import { html, render } from "../vendor/htm-preact.js";
import { ask, canSignIn, newState, next, pauseOnFocus } from "./follow.js";
import { Foot, SignIn, Standing, stateText } from "./view.js";

let state = newState();
/** @type {boolean | null} */
let offersSignIn = null;
let said = ""; // what screen readers were told last
let lastAsked = 0; // ms
let isAsking = false;
let timer = 0;

// channelOf returns the login of the channel in the address. After the sign-in, the address lacks
// it, so this window remembers it.
function channelOf() {
  const named = new URLSearchParams(location.search).get("channel");
  try {
    if (named !== null) sessionStorage.setItem("channel", named);
    return named ?? sessionStorage.getItem("channel") ?? "";
  } catch {
    return named ?? ""; // the browser keeps nothing
  }
}

const channel = channelOf();

const Page = () => {
  const { session, standing, detail, ahead, failures, isTooOften } = state, now = Date.now() + ahead;
  if (session === "out") return html`<${SignIn} canSignIn=${offersSignIn} />`;
  return html`
    ${standing && html`<h1>${t("viewer.title", { channel: standing.channel })}</h1>`}
    ${detail && html`<p class="state" role="alert">${detail}</p>`}
    ${failures > 1 && html`<p class="note" role="status">${isTooOften ? t("viewer.too-often") : t("viewer.away")}</p>`}
    ${standing && html`<${Standing} of=${standing} now=${now} />`}
    ${standing && html`<${Foot} name=${standing.display_name || standing.login} signOut=${signOut} />`}
    ${detail && html`<p><button type="button" id="sign-out" onClick=${signOut}>${t("viewer.sign-out")}</button></p>`}
    <p class="unseen" aria-live="polite">${said}</p>
  `;
};

function draw() {
  const { standing, ahead } = state;
  document.title = standing ? t("viewer.title", { channel: standing.channel }) : t("viewer.title-signed-out");
  if (standing) said = stateText(standing, Date.now() + ahead);
  render(html`<main class="viewer"><${Page} /></main>`, document.getElementById("viewer"));
}

async function follow() {
  if (isAsking) return;
  isAsking = true;
  lastAsked = Date.now();
  const answer = await ask("GET", channel);
  isAsking = false;
  const { state: after, pause } = next(state, answer, Date.now());
  state = after;
  draw();
  plan(pause);
  if (state.session === "out" && offersSignIn === null) {
    offersSignIn = await canSignIn();
    draw();
  }
}

// plan asks again after a pause, unless nobody looks at the page.
/** @param {number} pause ms */
function plan(pause) {
  clearTimeout(timer);
  if (pause !== Infinity && !document.hidden) timer = setTimeout(follow, pause);
}

async function signOut() {
  const { status } = await ask("DELETE", channel);
  if (status === 204) state = { ...newState(), session: "out" };
  draw();
  follow();
}

document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : plan(pauseOnFocus(Date.now() - lastAsked))));
addEventListener("focus", () => plan(pauseOnFocus(Date.now() - lastAsked)));
setInterval(() => state.standing && !document.hidden && draw(), 1000); // the countdown goes on

await loadTexts("viewer");
follow();
