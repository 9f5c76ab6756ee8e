// @ts-check
// Finding users, and the user whose card is shown.

import { forget, userAddress } from "../changes/user.js";
import { loadAlgorithms } from "../core/algorithms.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
/** @import { ChangeForm, Kind } from "./form.js" */
/** @import { Week } from "./week.js" */

/** @typedef {Api.getChannelsUsers} Card */

/**
 * @typedef {object} People
 * @property {string | null} channel
 * @property {string} text the text in the search field
 * @property {{text: string, noted: boolean, users: Api.Person[], isMore: boolean} | null} found the
 *   users found, and what was searched for; isMore says that more match
 * @property {boolean} onlyNoted only users with notes are searched
 * @property {string} problem
 * @property {boolean} isBrowsing the search field was used since the card was opened
 * @property {Person | null} person the user whose card is shown
 */

/**
 * @typedef {object} Person
 * @property {string | null} channel
 * @property {string} id
 * @property {Card} card null until it is loaded
 * @property {string} problem
 * @property {boolean} isGone chatguard knows nobody with that ID
 * @property {Week} week
 * @property {ChangeForm | null} form the open form
 * @property {Partial<Record<Kind, ChangeForm>>} kept forms that were closed after something was typed
 */

/** @typedef {{id: string, channel: string | null}} Shown */

const typingPause = 150; // from the last key to the search, ms

/** @type {AbortController | null} */
let searching = null; // aborts the current search
let waiting = 0;

// enter starts with the most recent users, or restores what was shown in this channel.
export function enter() {
  const { people, channel } = state;
  if (people?.channel !== channel) {
    update((s) => (s.people = { channel, text: "", found: null, onlyNoted: false, problem: "", isBrowsing: false, person: null }));
  }
  return search();
}

// type stores what was typed, and searches when typing pauses.
/** @param {string} text */
export function type(text) {
  set({ text, isBrowsing: true });
  clearTimeout(waiting);
  waiting = setTimeout(search, typingPause);
}

// showNoted searches only users with notes, or all users again.
/** @param {boolean} onlyNoted */
export function showNoted(onlyNoted) {
  set({ onlyNoted, isBrowsing: true });
  return search();
}

async function search() {
  clearTimeout(waiting);
  searching?.abort();
  const { signal } = (searching = new AbortController());
  const { channel, people } = state;
  const text = people.text.trim(), noted = people.onlyNoted;
  try {
    const { body } = await request("GET", `/users?${new URLSearchParams({ channel, q: text, ...(noted && { noted: "true" }) })}`, { signal });
    if (!signal.aborted) set({ found: { text, noted, users: body.users, isMore: Boolean(body.more) }, problem: "" });
  } catch (problem) {
    if (!signal.aborted && !ifSignedOut(problem)) set({ problem: problem.message });
  }
}

// firstFound returns the first user that matches the text in the field, if any. It searches if the
// list doesn't match the text yet.
export async function firstFound() {
  if (!isCurrent(state.people)) await search();
  return state.people && isCurrent(state.people) ? state.people.found.users[0] : undefined;
}

/** @param {People} of */
const isCurrent = ({ found, text, onlyNoted }) => found?.text === text.trim() && found.noted === onlyNoted;

/** @param {Partial<People>} news */
function set(news) {
  if (state.people) update((s) => (s.people = { ...s.people, ...news }));
}

/** @type {Week} */
const unknown = { limit: "", body: null, problem: "", loadedAt: 0 };

// show opens the card of a user, without the outcome of an earlier change; an empty ID closes it.
/** @param {string} [id] */
export function show(id = "") {
  if (id === (state.people.person?.id ?? "")) return refresh();
  const { channel } = state.people;
  forget(id);
  set({ isBrowsing: false, person: id ? { channel, id, card: null, problem: "", isGone: false, week: unknown, form: null, kept: {} } : null });
  return refresh();
}

/** @param {Shown | null | undefined} one @param {Shown | null | undefined} other */
const isSame = (one, other) => one?.id === other?.id && one?.channel === other?.channel;

// isShown reports whether this user's card is still shown.
/** @param {Person} person */
export const isShown = (person) => isSame(state.people?.person, person);

// change updates a user's card if it is still shown.
/** @param {Person} person @param {Partial<Person>} news */
export function change(person, news) {
  if (isShown(person)) set({ person: { ...state.people.person, ...news } });
}

/** @type {{person: Person, ended: Promise<void>} | null} */
let loading = null; // the card being loaded

// refresh loads the card shown. An open form stays.
export async function refresh() {
  const person = state.people?.person;
  if (!person) return;
  if (!isSame(loading?.person, person)) loading = { person, ended: load(person) };
  const mine = loading;
  await mine.ended;
  if (loading === mine) loading = null;
}

// reload loads the card after a change. It first waits for a load in progress, which may have begun
// before the change.
export async function reload() {
  await loading?.ended;
  await refresh();
}

/** @param {Person} person */
async function load(person) {
  try {
    const [{ body }] = await Promise.all([request("GET", userAddress(person.id)), loadAlgorithms()]);
    change(person, { card: body, problem: "", isGone: false });
  } catch (problem) {
    if (!ifSignedOut(problem)) change(person, { problem: problem.message, isGone: problem.status === 404 });
  }
}
