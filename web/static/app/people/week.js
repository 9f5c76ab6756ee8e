// @ts-check
// The messages that a user had left in one limit in the last 7 days, as a chart. For a limit that
// everyone shares, the chart shows what everyone had left.

import { commas, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { userAddress } from "../changes/user.js";
import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { ifSignedOut } from "../core/session.js";
import { state } from "../core/state.js";
import { change, isShown } from "./people.js";
import { sharedWeekAddress, WeekChart } from "../widgets/week-chart.js";
import { isShared, sharers } from "../words/scopes.js";
/** @import { Person } from "./people.js" */

/**
 * @typedef {object} Week
 * @property {string} limit the selected limit; empty if chatguard selects one
 * @property {Api.getChannelsUsersWeek | null} body chatguard's answer
 * @property {string} problem
 * @property {number} loadedAt when the answer came, ms
 */

const longest = 60_000; // data older than this is loaded again, ms

// keepWeek loads the data of the user shown again if it is old.
export async function keepWeek() {
  const person = state.people?.person;
  if (person?.card && Date.now() - person.week.loadedAt > longest) await loadWeek();
}

/** @param {string} limit */
function chooseLimit(limit) {
  const { person } = state.people;
  change(person, { week: { ...person.week, limit } });
  return loadWeek();
}

// limitOf returns the name of the limit to show; empty if chatguard selects one of the user's.
/** @param {Person} of */
const limitOf = ({ card: { limits }, week }) => week.limit || (limits.every(isShared) && limits[0]?.name) || "";

// weekAddress returns the address of the week of the limit shown: the user's, or everyone's.
/** @param {Person} person */
export function weekAddress(person) {
  const limit = limitOf(person);
  if (person.card.limits.some((one) => one.name === limit && isShared(one))) return sharedWeekAddress(person.channel, limit);
  return `${userAddress(person.id)}/week${limit && "?" + new URLSearchParams({ limit })}`;
}

const asked = inOrder(); // to ignore outdated answers

export async function loadWeek() {
  const person = state.people?.person;
  if (!person) return;
  const { limit } = person.week;
  const isNews = asked();
  const isWanted = () => isNews() && isShown(person) && state.people.person.week.limit === limit;
  try {
    const { body } = await request("GET", weekAddress(person));
    if (isWanted()) change(person, { week: { limit, body, problem: "", loadedAt: Date.now() } });
  } catch (problem) {
    if (!ifSignedOut(problem) && isWanted()) change(person, { week: { ...state.people.person.week, problem: problem.message, loadedAt: Date.now() } });
  }
}

/** @param {{person: Person}} props */
export function UserWeek({ person }) {
  const { card: { limits, verdict }, week: { body, problem } } = person;
  const name = limitOf(person) || body?.limit;
  if (limits.length === 0) return null;
  const limit = limits.find((one) => one.name === name);
  const isOfAll = limit !== undefined && isShared(limit);
  return html`
    <section class="part" aria-labelledby="week">
      <div class="part-head">
        <h3 id="week">${t("people.week")}</h3>
        <label><span class="unseen">${t("people.week-limit")}</span>
          <select value=${name} onChange=${(event) => chooseLimit(event.target.value)}>
            ${limits.map((one) => html`<option value=${one.name} selected=${one.name === name}>${commas([one.name, isShared(one) && sharers[one.per]])}</option>`)}
          </select>
        </label>
      </div>
      <${WeekChart} body=${body?.limit === name ? body : null} problem=${problem} isShared=${isOfAll} isByRole=${isOfAll && hasRole(limit)}
        now=${limit && !isOfAll ? { at: verdict.at, remaining: limit.remaining, capacity: limit.capacity } : undefined} />
    </section>
  `;
}

// hasRole reports whether the numbers of one of the user's roles apply.
/** @param {Api.LimitStatus} of */
const hasRole = ({ role }) => role !== "everyone";
