// @ts-check
// The pages. The page Now is loaded with the dashboard, the others when they are first shown, or
// when the browser has nothing else to do.

import { html } from "../../vendor/htm-preact.js";
import { pages } from "../core/route.js";
import { state, update } from "../core/state.js";
import { NowPage } from "../now/page.js";
import { PageHead } from "../widgets/page-head.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Page } from "../core/route.js" */
/** @import { State } from "../core/state.js" */

/** @typedef {(props: {state: State}) => View} Component */

/** @type {Partial<Record<Page, () => Promise<Component>>>} */
const loaders = {
  limits: () => import("../limits/page.js").then((module) => module.LimitsPage),
  people: () => import("../people/page.js").then((module) => module.PeoplePage),
  journal: () => import("../records/journal-page.js").then((module) => module.JournalPage),
  audit: () => import("../records/audit-page.js").then((module) => module.AuditPage),
};

/** @type {Partial<Record<Page, Component>>} */
const views = { now: NowPage };

// pageOf returns the component of a page, and starts to load it if necessary.
/** @param {Page} page @returns {Component} */
export function pageOf(page) {
  if (!views[page]) load(page);
  return views[page];
}

// load loads a page and shows an empty one meanwhile. If that fails before the page is shown, it is
// loaded again when it is.
/** @param {Page} page */
async function load(page) {
  views[page] = () => null;
  const view = await loaders[page]().catch(() => (state.route === page ? Unloaded : undefined));
  update(() => (views[page] = view));
}

// loadAll loads all pages, so that later they open at once.
export function loadAll() {
  for (const page of /** @type {Page[]} */ (Object.keys(loaders))) if (!views[page]) load(page);
}

// Unloaded replaces a page whose modules could not be loaded. Only a new start helps, because the
// browser remembers modules that it couldn't load.
/** @param {{state: State}} props */
function Unloaded({ state }) {
  return html`
    <${PageHead} title=${pages[state.route]} />
    <div class="nobody" role="alert">
      <p class="headline">This page could not be loaded.</p>
      <p>Check that chatguard is running, then try again.</p>
      <p><button type="button" class="primary" onClick=${() => location.reload()}>Retry</button></p>
    </div>
  `;
}
