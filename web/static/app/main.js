// The dashboard: reads the address, draws the state, keeps the live feed open.

import { html, render } from "../vendor/htm-preact.js";
import { close } from "./amending.js";
import { Problem, request } from "./api.js";
import { hasDraft } from "./drafts.js";
import { Header } from "./header.js";
import { LimitsPage } from "./limits-page.js";
import { AuditPage } from "./audit-page.js";
import { JournalPage } from "./journal-page.js";
import { choose, retryNow, stop, watch } from "./live.js";
import { NowPage } from "./now-page.js";
import { titleName } from "./people.js";
import { PeoplePage } from "./people-page.js";
import { closeNotes } from "./policy.js";
import { fragment, pages, parse } from "./route.js";
import { ifSignedOut, signIn } from "./session.js";
import { SignInPage } from "./signin-page.js";
import { onChange, state, update } from "./state.js";
import { closeProblems } from "./switches.js";
import { WaitingPage } from "./waiting-page.js";

const views = { now: NowPage, limits: LimitsPage, people: PeoplePage, journal: JournalPage, audit: AuditPage };

function App({ state }) {
  if (state.session === "unknown") return null;
  if (state.session === "out") return html`<${SignInPage} signIn=${state.signIn} onSignedIn=${enter} />`;
  const Page = state.channel === "" ? WaitingPage : views[state.route];
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${Header} state=${state} />
    <main id="main" tabindex="-1"><${Page} state=${state} /></main>
    <p class="unseen" aria-live="polite">${state.announcement}</p>
  `;
}

function skip(event) {
  event.preventDefault(); // the fragment is the route
  document.getElementById("main").focus();
}

const passing = new Set([0, 503]); // no answer, or the database can't tell who is signed in: nobody is signed out by that

// enter fetches what the pages need, once somebody is signed in.
async function enter() {
  try {
    const [me, { body }] = await Promise.all([request("GET", "/session"), request("GET", "/channels")]);
    update((s) => {
      s.session = "in";
      s.me = me.body;
      s.channels = body.channels;
      s.channel = null;
    });
    show();
  } catch (problem) {
    if (ifSignedOut(problem)) return;
    update((s) => {
      s.session = "out";
      s.signIn = { busy: false, error: problem.message, mounted: problem.mounted };
    });
    if (problem instanceof Problem && passing.has(problem.status)) setTimeout(() => state.session === "in" || enter(), 2000);
  }
}

// show follows the address bar.
async function show() {
  const { page, channel, query, code } = parse(location.hash);
  if (code) {
    history.replaceState(null, "", fragment("now")); // a code is nobody else's business
    await signIn({ code });
    await enter(); // whoever is signed in already stays so, even if the link has been used
    return;
  }
  update((s) => {
    s.route = page;
    s.query = query;
    s.wanted = channel;
  });
  if (state.session === "in") choose();
}

onChange((s) => {
  if (s.session === "out") stop();
  entitle(s);
  render(html`<${App} state=${s} />`, document.getElementById("app"));
  focusWanted(s);
});

let titled = "";

function entitle(s) {
  const page = s.session === "out" ? ["Sign in"] : [titleName(s), pages[s.route]].filter(Boolean);
  const title = [...page, "chatguard"].join(" · ");
  if (s.session !== "unknown" && title !== titled) document.title = titled = title;
}

function focusWanted(s) {
  const wanted = s.focus && document.getElementById(s.focus);
  if (!wanted) return;
  s.focus = "";
  wanted.focus();
}

// find goes to the search for a user, wherever one is.
function find() {
  update((s) => {
    s.entry = null; // nothing beside it can have the focus
    s.focus = "find";
  });
  if (state.route !== "people") location.hash = fragment("people", state.wanted);
}

const isTyping = (element) => element.closest("input, textarea, select");

addEventListener("hashchange", show);
addEventListener("online", retryNow);
addEventListener("beforeunload", (event) => hasDraft() && event.preventDefault()); // the browser asks
document.addEventListener("visibilitychange", () => document.hidden || retryNow());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && state.session === "in" && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target)) {
    event.preventDefault(); // else the slash is written into the field
    find();
  }
  if (event.key !== "Escape") return;
  close();
  closeNotes();
  closeProblems();
});
setInterval(() => {
  watch();
  if (!document.hidden) update(() => {}); // countdowns go on
}, 1000);

if (parse(location.hash).code) show();
else enter();
