// Journal and audit: long lists of records, the newest first, that are loaded piece by piece, as far as the address bar's filters ask for them.
//
// state.journal and state.audit are {channel, filters, rows, more, busy, problem}, and each has something of its own: rows are null before the first
// answer, more says that there are older ones.

import { request } from "./api.js";
import { ifSignedOut } from "./session.js";
import { state, update } from "./state.js";

const kinds = {
  journal: { filters: ["user", "limit", "action", "result"], rowsOf: (body) => body.entries },
  audit: { filters: ["author", "action", "user"], rowsOf: (body) => body.changes },
};

const page = 100; // rows asked for at once

// filtersOf picks those of a query that are filters, always in the same order: one question has one address.
export function filtersOf(name, query) {
  return Object.fromEntries(kinds[name].filters.filter((filter) => query[filter]).map((filter) => [filter, query[filter]]));
}

// begin forgets what was shown, and returns what is to be shown, with more that is of its own.
export function begin(name, own) {
  const { channel, query } = state;
  const records = { channel, filters: filtersOf(name, query), rows: null, more: false, busy: false, problem: "", ...own };
  update((s) => (s[name] = records));
  return records;
}

// isShown reports whether records are those shown still.
export const isShown = (name, { filters }) => state[name]?.filters === filters;

// change changes the records shown, where they are still the same.
export function change(name, records, news) {
  if (isShown(name, records)) update((s) => (s[name] = { ...s[name], ...news }));
}

const address = (name, { channel, filters }, more) => `/${name}?${new URLSearchParams({ channel, ...filters, ...more })}`;

// csvAddress is where all of them can be had as a table.
export const csvAddress = (name, records) => "api/v1" + address(name, records, { format: "csv" });

// fetchPage returns {rows, more}: the next rows older than one; without it the newest.
export async function fetchPage(name, records, oldest) {
  const { body } = await request("GET", address(name, records, { n: page, ...(oldest && { before: oldest.id }) }));
  return { rows: kinds[name].rowsOf(body), more: body.more };
}

// loadMore loads the next older rows, at first the newest.
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
