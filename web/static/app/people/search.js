// @ts-check
// The user search: a field, and a list of links. The arrow keys move between them.

import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { loginOf, nameOf } from "../core/state.js";
import { firstFound, showNoted, type } from "./people.js";
import { Icon } from "../widgets/icon.js";
import { roleNames } from "../words/roles.js";
import { stamp } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { People } from "./people.js" */

/** @param {{state: State, people: People}} props */
export function PeopleSearch({ state, people }) {
  const { text, found, problem, onlyNoted } = people;
  const list = useFittingHeight();
  return html`
    <search class="search" onKeyDown=${(event) => walk(event, state)}>
      <label for="find">Find a user by name, login or ID</label>
      <input id="find" type="search" autocomplete="off" spellcheck=${false} maxlength="256" value=${text} onInput=${(event) => type(event.target.value)} />
      <div class="tabs" role="group" aria-label="Users shown">
        <button type="button" aria-pressed=${onlyNoted ? "false" : "true"} onClick=${() => showNoted(false)}>All</button>
        <button type="button" aria-pressed=${onlyNoted ? "true" : "false"} onClick=${() => showNoted(true)}><${Icon} name="note" />With notes</button>
      </div>
      <p class="summary muted" role="status">${problem ? "" : summary(found)}</p>
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <ul class="found" ref=${list}>
        ${(found?.users ?? []).map((user) => html`<${Found} key=${user.user_id} state=${state} user=${user} />`)}
      </ul>
    </search>
  `;
}

// useFittingHeight tells the style where the list begins, so that the list ends with the window.
function useFittingHeight() {
  const list = useRef(null);
  useLayoutEffect(() => {
    if (scrollY === 0) list.current.style.setProperty("--begin", `${Math.ceil(list.current.getBoundingClientRect().top)}px`);
  });
  return list;
}

/** @param {People["found"]} found */
function summary(found) {
  if (!found) return "Searching…";
  const { text, noted, users, isMore } = found;
  if (noted && text === "" && users.length === 0) return "No notes yet. Open a user to add one.";
  if (noted && text === "") return isMore ? `With notes, the first ${users.length}:` : "With notes:";
  if (text === "") return users.length > 0 ? "Recently active:" : "No messages recorded in this channel yet.";
  if (users.length === 0) return html`No user matches “<bdi>${text}</bdi>” (name, login or ID).`;
  if (isMore) return `The ${users.length} best matches:`;
  return users.length === 1 ? "1 user:" : `${users.length} users:`;
}

/** @param {{state: State, user: Api.Person}} props */
function Found({ state, user }) {
  const { user_id: id, roles, last_seen: seen, notes = 0 } = user;
  const about = [loginOf(user), roleNames(roles), Date.parse(seen) > 0 && stamp(Date.parse(seen))].filter(Boolean).join(" · ");
  return html`
    <li>
      <a href=${linkTo(state, "people", { user: id })} aria-current=${id === state.query.user ? "true" : null}>
        <span class="name"><bdi>${nameOf(user)}</bdi>${notes > 0 && html`<span class="noted" title="${notes} ${notes === 1 ? "note" : "notes"}"><${Icon} name="note" /><span class="unseen">has notes</span></span>`}</span>
        <bdi class="about muted">${about}</bdi>
      </a>
    </li>
  `;
}

/** @param {State} state */
async function choose(state) {
  const user = await firstFound();
  if (user) location.hash = linkTo(state, "people", { user: user.user_id });
}

// walk moves the focus up and down between the field and the links. Enter in the field chooses the
// first link.
/** @param {KeyboardEvent & {currentTarget: Element}} event @param {State} state */
function walk(event, state) {
  const links = [.../** @type {NodeListOf<HTMLElement>} */ (event.currentTarget.querySelectorAll(".found a"))];
  const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (event.key === "Enter" && at < 0) return choose(state);
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!step || links.length === 0) return;
  event.preventDefault(); // the page would scroll
  const next = Math.min(at + step, links.length - 1);
  if (next < 0) document.getElementById("find").focus();
  else links[next].focus();
}
