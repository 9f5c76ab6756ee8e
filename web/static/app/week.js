// What a user had left in one of their limits over the last week.
//
// person.week is {limit, body, problem, loadedAt}: limit is the one chosen, empty for the one that chatguard takes, body its answer, loadedAt when that
// came, ms.

import { userAddress } from "./amends.js";
import { request } from "./api.js";
import { inOrder } from "./in-order.js";
import { change, isShown } from "./people.js";
import { ifSignedOut } from "./session.js";
import { state } from "./state.js";

const longest = 60_000; // what is shown is no older, ms

// keepWeek loads the week of the user whose card is shown, where it is old.
export async function keepWeek() {
  const person = state.people?.person;
  if (person?.card && Date.now() - person.week.loadedAt > longest) await loadWeek();
}

export function chooseLimit(limit) {
  const { person } = state.people;
  change(person, { week: { ...person.week, limit } });
  return loadWeek();
}

const asked = inOrder(); // each time that it is fetched

export async function loadWeek() {
  const person = state.people?.person;
  if (!person) return;
  const { limit } = person.week;
  const isNews = asked();
  const isWanted = () => isNews() && isShown(person) && state.people.person.week.limit === limit;
  try {
    const { body } = await request("GET", `${userAddress(person.id)}/week${limit ? "?" + new URLSearchParams({ limit }) : ""}`);
    if (isWanted()) change(person, { week: { limit, body, problem: "", loadedAt: Date.now() } });
  } catch (problem) {
    if (!ifSignedOut(problem) && isWanted()) change(person, { week: { ...state.people.person.week, problem: problem.message, loadedAt: Date.now() } });
  }
}
