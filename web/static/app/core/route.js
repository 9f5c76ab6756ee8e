// @ts-check
// The address bar: the page, the channel if there are several, and the page's own parameters, such
// as #/people?channel=1&user=7.

import { table } from "../../text/text.js";
import { mayOwn, state } from "./state.js";
/** @import { Query, State } from "./state.js" */

/** @typedef {keyof typeof pages} Page */

// pages are the titles of the pages.
export const pages = table({
  now: "shell.page-now", limits: "shell.page-limits", people: "shell.page-people", journal: "shell.page-journal", audit: "shell.page-audit",
  admin: "shell.page-admin",
});

// shownPages are the pages that the signed-in user can use in the channel shown.
export const shownPages = () => /** @type {Page[]} */ (Object.keys(pages)).filter((page) => page !== "admin" || (mayOwn() && !state.me.mounted));

// labPage is the Lab, a document of its own beside the dashboard.
export const labPage = "lab";

// parse reads a fragment. If it names no page, the page is Now, and isUnknown is true unless the
// fragment is empty. code is the code of a sign-in link, or empty. query contains all parameters
// except the channel.
/** @param {string} fragment */
export function parse(fragment) {
  if (fragment.startsWith("#signin=")) return { page: /** @type {Page} */ ("now"), isUnknown: false, channel: "", query: {}, code: fragment.slice("#signin=".length) };
  const [path, search] = fragment.replace(/^#\/?/, "").split("?");
  const { channel = "", ...query } = Object.fromEntries(new URLSearchParams(search));
  const isPage = Object.hasOwn(pages, path);
  return { page: isPage ? /** @type {Page} */ (path) : "now", isUnknown: !isPage && path !== "", channel, query, code: "" };
}

// isMissing reports whether the address names a page that doesn't exist, or a channel that the user
// can't open. The page Admin needs no channel.
/** @param {State} of */
export const isMissing = ({ isUnknown, route, wanted, channels }) => isUnknown || (route !== "admin" && wanted !== "" && channels.length > 0 && channels.every(({ id }) => id !== wanted));

// fragment returns the address of a page within the dashboard. Empty parameters are left out.
/** @param {string} page @param {string} [channel] @param {Query} [query] */
export function fragment(page, channel, query = {}) {
  const kept = Object.entries({ channel, ...query }).filter(([, value]) => value);
  return "#/" + page + (kept.length > 0 ? "?" + new URLSearchParams(kept) : "");
}

// linkTo returns the address of a page for the channel shown. The address names the channel only if
// there are several.
/** @param {State} of @param {string} page @param {Query} [query] */
export function linkTo({ channels, channel }, page, query) {
  return fragment(page, channels.length > 1 ? channel : "", query);
}
