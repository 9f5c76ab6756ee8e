// @ts-check
// The journal: throttled messages and their penalties.

import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
import { begin, change, fetchPage, isShown, loadMore } from "./records.js";
/** @import { Records } from "./records.js" */

/**
 * Journal adds fields to Records. fresh are new entries that aren't shown yet. isGap is true if
 * there are more entries between the fresh ones and the shown ones. limits are the names of the
 * policy's limits.
 * @typedef {Records & {fresh: Api.Entry[], isGap: boolean, limits: string[]}} Journal
 */

// open loads the newest entries that match the address bar's filters.
export async function open() {
  const limits = state.journal?.channel === state.channel ? state.journal.limits : [];
  const journal = /** @type {Journal} */ (begin("journal", { fresh: [], isGap: false, limits }));
  await Promise.all([loadMore("journal"), loadLimits(journal)]);
  const [entry] = state.journal?.rows ?? [];
  if (journal.filters.entry && entry && isShown("journal", journal)) update((s) => (s.entry = entry)); // as a link to the message wants
}

/** @param {Journal} journal */
async function loadLimits(journal) {
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(journal.channel)}/policy`);
    change("journal", journal, { limits: body.limits.map((/** @type {Api.Limit} */ { name }) => name) });
  } catch (problem) {
    ifSignedOut(problem); // the journal can be read without the names of limits
  }
}

let isLooking = false;

// look fetches new entries. Rows that are shown stay where they are; only their outcomes are
// updated.
export async function look() {
  const { journal } = state;
  if (isLooking || !journal?.rows) return;
  isLooking = true;
  try {
    const news = await fetchPage("journal", journal);
    if (isShown("journal", journal)) change("journal", journal, { ...withNews(state.journal, news), problem: "" });
  } catch (problem) {
    if (!ifSignedOut(problem)) change("journal", journal, { problem: problem.message });
  } finally {
    isLooking = false;
  }
}

/** @param {Journal} of @param {{rows: Api.Entry[], more: boolean}} news */
function withNews({ rows, more }, news) {
  if (rows.length === 0) return news; // there are no rows to keep in place
  const known = new Map(news.rows.map((entry) => [entry.id, entry]));
  const fresh = news.rows.filter(({ id }) => id > rows[0].id);
  return { rows: rows.map((entry) => known.get(entry.id) ?? entry), more, fresh, isGap: news.more && fresh.length === news.rows.length };
}

// showFresh puts the new entries at the top. It moves the focus there, because the pressed button
// disappears.
export function showFresh() {
  const { journal } = state;
  update((s) => (s.focus = journal.isGap ? "main" : "first-entry"));
  if (journal.isGap) return open();
  change("journal", journal, { rows: [...journal.fresh, ...journal.rows], fresh: [] });
}
