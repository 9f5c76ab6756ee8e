// @ts-check
// The pages. The page Now is loaded with the dashboard, the others when they are first shown, or
// when the browser has nothing else to do and needn't save data.

import { loadTexts, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { pages } from "../core/route.js";
import { state } from "../core/state.js";
import { lazily, NotLoaded } from "./lazy.js";
import { NowPage } from "../now/page.js";
import { PageHead } from "../widgets/page-head.js";
/** @import { Page } from "../core/route.js" */
/** @import { Component } from "./lazy.js" */

// later loads a page and its texts.
/** @param {Page | "waiting"} page @param {() => Promise<Component>} load @param {Parameters<typeof loadTexts>} texts */
function later(page, load, ...texts) {
  const isShown = () => (page === "waiting" ? state.channel === "" : state.route === page);
  const unloaded = () => html`<${PageHead} title=${pages[state.route]} /><${NotLoaded} title=${t("shell.page-not-loaded")} />`;
  return lazily(() => Promise.all([load(), loadTexts(...texts)]).then(([view]) => view), unloaded, isShown);
}

/** @type {Record<Page | "waiting", () => Component>} */
const views = {
  now: () => NowPage,
  limits: later("limits", () => import("../limits/page.js").then((module) => module.LimitsPage), "limits", "rules"),
  people: later("people", () => import("../people/page.js").then((module) => module.PeoplePage), "entries", "people", "rules"),
  journal: later("journal", () => import("../records/journal-page.js").then((module) => module.JournalPage), "entries", "records"),
  audit: later("audit", () => import("../records/audit-page.js").then((module) => module.AuditPage), "records", "rules"),
  admin: later("admin", () => import("../admin/page.js").then((module) => module.AdminPage), "admin", "overlay", "webhooks"),
  waiting: later("waiting", () => import("./waiting-page.js").then((module) => module.WaitingPage), "unread"), // instead of others
};

// pageOf returns the component of a page, and loads it if necessary.
/** @param {Page | "waiting"} page */
export const pageOf = (page) => views[page]();

// loadAll loads all pages, so that later they open at once.
export function loadAll() {
  for (const load of Object.values(views)) load();
}
