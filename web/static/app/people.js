// Finding users, and the one whose card is shown.
//
// state.people is {channel, text, found, problem, isBrowsing, person}: text is what stands in the search field, found {text, users} as they were
// found by that text, null before the first answer, and isBrowsing that the field was used since the card was opened. person is {channel, id, card,
// problem, isGone, week, form, said}: card is null until it is loaded, isGone that chatguard knows nobody by that ID, week see week.js, form and said see
// user-changes.js; null while no card is shown.

import { userAddress } from "./amends.js";
import { request } from "./api.js";
import { ifSignedOut } from "./session.js";
import { shownID, state, update } from "./state.js";

const typingPause = 150; // a search waits so long for the next key, ms

let searching = null; // what aborts the search under way
let waiting = 0;

// enter begins with those who spoke last, or goes on where somebody was in this channel.
export function enter() {
  const { people, channel } = state;
  if (people?.channel !== channel) {
    update((s) => (s.people = { channel, text: "", found: null, problem: "", isBrowsing: false, person: null }));
  }
  return search();
}

// type takes what was typed, and searches once the typing pauses.
export function type(text) {
  set({ text, isBrowsing: true });
  clearTimeout(waiting);
  waiting = setTimeout(search, typingPause);
}

async function search() {
  clearTimeout(waiting);
  searching?.abort();
  const { signal } = (searching = new AbortController());
  const { channel, people } = state;
  const text = people.text.trim();
  try {
    const { body } = await request("GET", `/users?${new URLSearchParams({ channel, q: text })}`, { signal });
    if (!signal.aborted) set({ found: { text, users: body.users }, problem: "" });
  } catch (problem) {
    if (!signal.aborted && !ifSignedOut(problem)) set({ problem: problem.message });
  }
}

// firstFound returns the first user that fits what stands in the field now, if any: whoever types quickly doesn't mean those found before.
export async function firstFound() {
  if (state.people.found?.text !== state.people.text.trim()) await search();
  const { people } = state;
  return people?.found?.text === people?.text.trim() ? people?.found?.users[0] : undefined;
}

function set(news) {
  if (state.people) update((s) => (s.people = { ...s.people, ...news }));
}

const unknown = { limit: "", body: null, problem: "", loadedAt: 0 };

// show opens the card of a user; an empty ID closes it.
export function show(id = "") {
  if (id === (state.people.person?.id ?? "")) return refresh();
  const { channel } = state.people;
  set({ isBrowsing: false, person: id ? { channel, id, card: null, problem: "", isGone: false, week: unknown, form: null, said: null } : null });
  return refresh();
}

const isSame = (one, other) => one?.id === other?.id && one?.channel === other?.channel;

// isShown reports whether a card is still that of the same user.
export const isShown = (person) => isSame(state.people?.person, person);

// titleName is the name of the user whose card is shown, as it can stand among other words where there is only text: of a hostile one the beginning, which
// can't turn what comes after it. It is empty without a card.
export function titleName({ route, people }) {
  const card = route === "people" ? people?.person?.card : null;
  const name = card ? card.login || shownID(card.user_id) : "";
  return /^\w{0,50}$/.test(name) ? name : `\u2068${name.slice(0, 50)}\u2069`;
}

// change changes the card shown, where it is still that of the same user.
export function change(person, news) {
  if (isShown(person)) set({ person: { ...state.people.person, ...news } });
}

let loading = null; // {person, ended} of the card that is on its way

// refresh loads the card shown. What is being edited in it stays.
export async function refresh() {
  const person = state.people?.person;
  if (!person) return;
  if (!isSame(loading?.person, person)) loading = { person, ended: load(person) };
  const mine = loading;
  await mine.ended;
  if (loading === mine) loading = null;
}

// reload loads the card after a change: one that is on its way may be older.
export async function reload() {
  await loading?.ended;
  await refresh();
}

async function load(person) {
  try {
    const { body } = await request("GET", userAddress(person.id));
    change(person, { card: body, problem: "", isGone: false });
  } catch (problem) {
    if (!ifSignedOut(problem)) change(person, { problem: problem.message, isGone: problem.status === 404 });
  }
}
