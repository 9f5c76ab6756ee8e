// @ts-check
// What the list shows: its tab, order and filter. They are in the address bar.

import { table } from "../../text/text.js";
import { linkTo, parse } from "../core/route.js";
import { asOf, inForce, isStanding, nameOf, state } from "../core/state.js";
import { outcomeWords } from "../words/penalties.js";
/** @import { Query, State, User } from "../core/state.js" */

/** @typedef {{tab: keyof typeof tabs, sort: keyof typeof orders, show: keyof typeof filters, limit: string}} View */

// tabs are the names of the tabs: who is throttled now, who is timed out or banned, and who was
// throttled in the last 10 minutes.
export const tabs = table({ held: "now.tab-throttled", silenced: "now.tab-silenced", recent: "now.tab-recent" });

export const orders = table({ newest: "now.order-newest", count: "now.order-count", strikes: "now.order-strikes", name: "now.order-name" });

export const filters = table({ all: "now.filter-all", failed: "now.filter-failed", observed: "now.filter-observed" });

/** @type {Record<keyof typeof filters, (user: User) => boolean>} */
const matches = {
  all: () => true,
  failed: (user) => outcomeWords(user).kind === "failed",
  observed: (user) => user.observed,
};

/** @template {object} T @param {T} known @param {string | undefined} value @param {keyof T} usual */
const one = (known, value, usual) => (value && Object.hasOwn(known, value) ? /** @type {keyof T} */ (value) : usual);

// viewOf reads the view from the address bar.
/** @param {Query} query @returns {View} */
export function viewOf(query) {
  return { tab: one(tabs, query.tab, "held"), sort: one(orders, query.sort, "newest"), show: one(filters, query.show, "all"), limit: query.limit ?? "" };
}

// addressOf returns the address of a view with some changes. Defaults are left out.
/** @param {State} of @param {View} view @param {Partial<View>} [news] */
export function addressOf(of, view, news) {
  const { tab, sort, show, limit } = { ...view, ...news };
  return linkTo(of, "now", { tab: tab === "held" ? "" : tab, sort: sort === "newest" ? "" : sort, show: show === "all" ? "" : show, limit });
}

// go changes the view in the address bar, without a step in the browser's history.
/** @param {Partial<View>} news */
export const go = (news) => location.replace(addressOf(state, viewOf(parse(location.hash).query), news));

const recent = 600_000; // ms

/** @type {Record<View["tab"], (user: User) => boolean>} */
const isIn = {
  held: isStanding,
  silenced: ({ silenced, leaving }) => !leaving && inForce(silenced) !== null,
  recent: ({ total, at, leaving }) => !leaving && total > 0 && asOf() - Date.parse(at) < recent,
};

// inTab lists the users of a tab; those throttled last come first.
/** @param {Map<string, User>} users @param {View["tab"]} tab */
export function inTab(users, tab) {
  return [...users.values()].filter(isIn[tab]).reverse();
}

// countOf returns how often a user was throttled, as a tab shows it.
/** @param {User} user @param {View["tab"]} tab */
export const countOf = (user, tab) => (tab === "held" ? user.count : user.total);

// arranged filters and sorts the users of a tab.
/** @param {User[]} users @param {View} view */
export function arranged(users, { tab, sort, show, limit }) {
  const shown = users.filter((user) => matches[show](user) && (!limit || user.limit === limit));
  if (sort === "newest") return shown;
  if (sort === "name") return byKey(shown, (user) => nameOf(user).toLowerCase());
  return byKey(shown, sort === "count" ? (user) => -countOf(user, tab) : (user) => -user.strikes);
}

// byKey sorts by a key that is computed once per user.
/** @param {User[]} users @param {(user: User) => string | number} keyOf */
function byKey(users, keyOf) {
  const keyed = users.map((user) => ({ user, key: keyOf(user) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ user }) => user);
}

// limitsOf lists the limits that throttled these users, by name.
/** @param {User[]} users */
export const limitsOf = (users) => [...new Set(users.map(({ limit }) => limit))].filter(Boolean).sort();
