// The journal: what was done to whom. See records.js; of its own it has {fresh, isGap, limits}: fresh are entries that have come since and aren't shown
// yet, isGap says that there are others between them and those shown, and limits are the names of the policy's.

import { request } from "./api.js";
import { begin, change, fetchPage, isShown, loadMore } from "./records.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

// open begins with the newest entries that the address bar asks for.
export async function open() {
  const limits = state.journal?.channel === state.channel ? state.journal.limits : [];
  const journal = begin("journal", { fresh: [], isGap: false, limits });
  await Promise.all([loadMore("journal"), loadLimits(journal)]);
}

async function loadLimits(journal) {
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(journal.channel)}/policy`);
    change("journal", journal, { limits: body.limits.map(({ name }) => name) });
  } catch (problem) {
    ifSignedOut(problem); // the journal can be read without the names of limits
  }
}

let isLooking = false;

// look takes note of what has come since. What is shown stays where it is, but for how it went.
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

function withNews({ rows, more }, news) {
  if (rows.length === 0) return news; // nothing is being read
  const known = new Map(news.rows.map((entry) => [entry.id, entry]));
  const fresh = news.rows.filter(({ id }) => id > rows[0].id);
  return { rows: rows.map((entry) => known.get(entry.id) ?? entry), more, fresh, isGap: news.more && fresh.length === news.rows.length };
}

// showFresh puts what has come since at the top, and sends the focus there: the button that asked for it goes.
export function showFresh() {
  const { journal } = state;
  update((s) => (s.focus = journal.isGap ? "main" : "first-entry"));
  if (journal.isGap) return open();
  change("journal", journal, { rows: [...journal.fresh, ...journal.rows], fresh: [] });
}
