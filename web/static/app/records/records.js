// @ts-check
// Journal and audit: long lists of records, the newest first, loaded page by page and filtered by
// the address bar.

import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
/** @import { Query } from "../core/state.js" */

/** @typedef {keyof typeof kinds} Kind */

/**
 * @typedef {object} Records
 * @property {string | null} channel
 * @property {Query} filters
 * @property {any[] | null} rows null before the first answer
 * @property {boolean} more there are older rows
 * @property {boolean} busy
 * @property {string} problem
 */

const kinds = {
  journal: { filters: ["name", "user", "entry", "limit", "action", "result"], rowsOf: (/** @type {any} */ body) => body.entries },
  audit: { filters: ["author", "action", "name", "user"], rowsOf: (/** @type {any} */ body) => body.changes },
};

const page = 100; // rows per request

// filtersOf picks the filters of a query, always in the same order, so that equal filters have one
// address.
/** @param {Kind} name @param {Query} query */
export function filtersOf(name, query) {
  return Object.fromEntries(kinds[name].filters.filter((filter) => query[filter]).map((filter) => [filter, query[filter]]));
}

// begin replaces the records shown with empty records, and returns the empty records. own contains
// the page's additional fields.
/** @param {Kind} name @param {object} own */
export function begin(name, own) {
  const { channel, query } = state;
  /** @type {any} */
  const records = { channel, filters: filtersOf(name, query), rows: null, more: false, busy: false, problem: "", ...own };
  update((s) => (s[name] = records));
  return /** @type {Records} */ (records);
}

// isShown reports whether records are still shown.
/** @param {Kind} name @param {Records} of */
export const isShown = (name, { filters }) => state[name]?.filters === filters;

// change updates records if they are still shown.
/** @param {Kind} name @param {Records} records @param {object} news */
export function change(name, records, news) {
  if (isShown(name, records)) update((s) => Object.assign(s, { [name]: { ...s[name], ...news } }));
}

/** @param {Kind} name @param {Records} of @param {object} [more] */
const address = (name, { channel, filters }, more) => `/${name}?${new URLSearchParams({ channel, ...filters, ...more })}`;

// csvAddress returns the address of all these records as a CSV file.
/** @param {Kind} name @param {Records} records */
export const csvAddress = (name, records) => "api/v1" + address(name, records, { format: "csv" });

// fetchPage returns {rows, more}: the rows before the given oldest one, or the newest rows.
/** @param {Kind} name @param {Records} records @param {{id: number}} [oldest] */
export async function fetchPage(name, records, oldest) {
  const { body } = await request("GET", address(name, records, { n: page, ...(oldest && { before: oldest.id }) }));
  return { rows: kinds[name].rowsOf(body), more: body.more };
}

// loadMore loads the next older rows. The first call loads the newest rows.
/** @param {Kind} name */
export async function loadMore(name) {
  const records = state[name];
  if (records.busy) return;
  change(name, records, { busy: true, problem: "" });
  try {
    const { rows, more } = await fetchPage(name, records, records.rows?.at(-1));
    if (isShown(name, records)) change(name, records, { busy: false, rows: [...(state[name].rows ?? []), ...rows], more });
  } catch (problem) {
    if (!ifSignedOut(problem)) change(name, records, { busy: false, problem: problem.message });
  }
}
