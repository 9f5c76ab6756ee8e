// The dashboard in a DOM without a browser, for tests of what the pages show and send. It has no
// layout, no styles and no network; a test that needs those opens a browser window (see
// internal/browsertest). Import this module before any module of the pages.
//
//   await open("limits");
//   await write("#burst-0", "1");
//   await see(() => text(".limit .rule") === "One message every 10 minutes");

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach } from "node:test";
import { Window } from "happy-dom";
import * as clock from "./clock.js";
import * as server from "./server.js";

export const window = new Window({ url: "http://chat.example/", width: 1400, height: 900 });
window.document.write(readFileSync(new URL("../static/index.html", import.meta.url), "utf8").replace(/<script[\s\S]*?<\/script>|<link rel="stylesheet"[^>]*>/g, ""));

const global = [
  "document", "location", "history", "navigator", "localStorage", "sessionStorage", "Event", "CustomEvent", "KeyboardEvent", "MouseEvent",
  "InputEvent", "FormData", "Node", "Element", "HTMLElement", "HTMLInputElement", "HTMLDetailsElement", "HTMLDialogElement", "Image", "CSS", "MutationObserver",
];
for (const name of global) Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
for (const name of ["removeEventListener", "matchMedia", "getComputedStyle"]) globalThis[name] = window[name].bind(window);
Object.assign(globalThis, { window, innerWidth: 1400, innerHeight: 900, scrollX: 0, scrollY: 0, scrollTo: () => {}, devicePixelRatio: 1, requestIdleCallback: (run) => setTimeout(run, 1) });

// In a browser, only a new fragment fires hashchange; here pushState and replaceState do so, too.
let written = "";
const replaceState = history.replaceState.bind(history);
for (const name of ["pushState", "replaceState"]) {
  const write = history[name].bind(history);
  history[name] = (...of) => {
    write(...of);
    written = location.href;
  };
}
globalThis.addEventListener = (type, listen, ...of) =>
  window.addEventListener(type, type !== "hashchange" ? listen : (event) => {
    if (event !== fired && location.href === written) return;
    if (event !== fired) written = "";
    listen(event);
  }, ...of);
let fired; // by a page itself
globalThis.dispatchEvent = (event) => window.dispatchEvent((fired = event));

// Nothing is laid out or drawn. Lists still need the height of their rows.
for (const row of ["--row", "--user-row"]) document.documentElement.style.setProperty(row, "40px");
globalThis.ResizeObserver = globalThis.IntersectionObserver = class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
window.HTMLElement.prototype.showPopover = window.HTMLElement.prototype.hidePopover = () => {};
const pen = new Proxy({}, { get: (_, name) => (name === "measureText" ? () => ({ width: 0 }) : () => pen), set: () => true });
window.HTMLCanvasElement.prototype.getContext = () => pen;
globalThis.Path2D = class {
  constructor() {
    return pen;
  }
};

server.restart();
server.answer("GET /session", server.refuse(401, "Sign in first."));
const { state, update } = await import("../static/app/core/state.js");
window.addEventListener("error", ({ message }) => server.faults.push(message));
const initial = structuredClone(state);
const { fetch } = globalThis;
const { loadTexts } = await import("./texts.js");
await loadTexts("admin", "device", "entries", "lab", "limits", "now", "overlay", "people", "records", "rules", "shell", "start", "unread", "viewer", "webhooks", "widgets", "words");
globalThis.fetch = fetch;

// What the pages load later is loaded now: a file takes real time, while the clock of the tests moves.
const later = [
  "limits/page.js", "people/page.js", "records/journal-page.js", "records/audit-page.js", "admin/page.js", "start/checklist.js", "start/first-run.js",
  "shell/alerts-dialog.js", "shell/device.js", "shell/keys-dialog.js", "shell/palette.js", "shell/waiting-page.js",
];
await Promise.all(later.map((part) => import(`../static/app/${part}`)));

await import("../static/app/shell/main.js");
await clock.idle();
server.restart();

export { state };
export { advance, idle } from "./clock.js";
export { answer, hangUp, refuse, requests, send, usualAnswer, withTag } from "./server.js";

// patience is how far see moves the clock, ms. A step is shorter than anything that a person notices.
const patience = 60_000, step = 20;

afterEach(async () => {
  update((s) => (s.session = "out"));
  await clock.advance(10_000);
  Object.assign(state, structuredClone(initial));
  localStorage.clear();
  sessionStorage.clear();
  clock.restart();
  const faults = server.faults.splice(0);
  server.restart();
  assert.deepEqual(faults, [], "errors of the page, or answers and requests that openapi.json doesn't know");
});

// open opens the dashboard as a person who signs in, at a page such as "limits" or
// "people?user=42". A test gives the server other answers before that.
export async function open(page = "now") {
  location.hash = "#signin=code";
  await see(() => state.session === "in" && find("main h1") && !find("main.sign-in") && state.feed.state !== "connecting");
  await goTo(page);
}

// goTo goes to a page as a link of the page does.
export async function goTo(page) {
  location.hash = `#/${page}`;
  replaceState(null, ""); // in a browser, a new entry has no state
  await see(() => find("main h1") && state.route === page.split("?")[0]);
}

// see waits until a condition holds. It lets answers arrive and, if need be, time pass. A condition
// that throws does not hold yet.
export async function see(condition) {
  let problem;
  const holds = () => {
    problem = undefined;
    try {
      return condition();
    } catch (thrown) {
      problem = thrown;
    }
  };
  for (let waited = 0; ; waited += step) {
    await clock.idle();
    if (holds()) return;
    if (waited >= patience) break;
    await clock.advance(step);
  }
  assert.fail(`never seen: ${condition}\n${[problem, ...server.faults].filter(Boolean).join("\n")}\nthe page: ${text("body")}`);
}

const element = (of) => (typeof of === "string" ? document.querySelector(of) : of);

// find returns the first element of a CSS selector, all returns all of them.
export const find = (selector) => document.querySelector(selector);
export const all = (selector) => [...document.querySelectorAll(selector)];

const inline = new Set(["a", "abbr", "b", "bdi", "code", "em", "i", "kbd", "small", "span", "strong", "time"]);

// gathered is the text of a node. Texts of blocks are apart, as they are on the screen.
function gathered(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  const inside = [...node.childNodes].map(gathered).join("");
  return inline.has(node.localName) ? inside : ` ${inside} `;
}

// text returns the text of an element, or of the first of a selector, with single spaces; undefined
// if there is none.
export const text = (of) => element(of) && gathered(element(of)).replace(/\s+/g, " ").trim();

// texts returns the text of each element of a selector.
export const texts = (selector) => all(selector).map(text);

// button returns the button with a text.
export const button = (label) => all("button, [role=button]").find((one) => text(one) === label);

// click clicks an element once it exists and is enabled.
export async function click(of) {
  await see(() => element(of) && !element(of).disabled && element(of).getAttribute("aria-disabled") !== "true");
  element(of).focus();
  element(of).click();
  await clock.advance(step);
}

// write replaces the text of a field, and leaves it if asked to.
export async function write(of, value, { leave = true } = {}) {
  await see(() => element(of));
  const field = element(of);
  field.focus();
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  if (leave) {
    field.dispatchEvent(new Event("change", { bubbles: true }));
    field.blur();
  }
  await clock.advance(step);
}

// pick chooses an option of a select by its value.
export const pick = (of, value) => write(of, value);

// press presses a key in the focused element, or in another one.
export async function press(key, of = document.activeElement ?? document.body) {
  for (const type of ["keydown", "keyup"]) element(of).dispatchEvent(new KeyboardEvent(type, { key, bubbles: true, cancelable: true }));
  await clock.advance(step);
}
