// The search for users: a field, and a list of links that the arrow keys go through.

import { html, useLayoutEffect, useRef } from "../vendor/htm-preact.js";
import { firstFound, type } from "./people.js";
import { roleNames } from "./roles.js";
import { linkTo } from "./route.js";
import { shownID } from "./state.js";
import { stamp } from "./time.js";

export function PeopleSearch({ state, people }) {
  const { text, found, problem } = people;
  const list = useFittingHeight();
  return html`
    <search class="search" onKeyDown=${(event) => walk(event, state)}>
      <label for="find">Find a user by login or ID</label>
      <input id="find" type="search" autocomplete="off" spellcheck=${false} maxlength="256" value=${text} onInput=${(event) => type(event.target.value)} />
      <p class="summary muted" role="status">${problem ? "" : summary(found)}</p>
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      <ul class="found" ref=${list}>
        ${(found?.users ?? []).map((user) => html`<${Found} key=${user.user_id} state=${state} user=${user} />`)}
      </ul>
    </search>
  `;
}

// useFittingHeight tells the style where the list begins, so that it ends with the window.
function useFittingHeight() {
  const list = useRef(null);
  useLayoutEffect(() => {
    if (scrollY === 0) list.current.style.setProperty("--begin", `${Math.ceil(list.current.getBoundingClientRect().top)}px`);
  });
  return list;
}

function summary(found) {
  if (!found) return "Looking…";
  const { text, users } = found;
  if (text === "") return users.length > 0 ? "Who wrote last:" : "Nobody has written here since chatguard watches, or it is forgotten by now.";
  if (users.length === 0) return html`Nobody here has a login with “<bdi>${text}</bdi>” in it, or that ID.`;
  return users.length === 1 ? "1 user:" : `${users.length} users:`;
}

function Found({ state, user: { user_id: id, login, roles, last_seen: seen } }) {
  return html`
    <li>
      <a href=${linkTo(state, "people", { user: id })} aria-current=${id === state.query.user ? "true" : null}>
        <bdi class="name">${login || shownID(id)}</bdi>
        <span class="about muted">${[roleNames(roles), seen && stamp(Date.parse(seen))].filter(Boolean).join(" · ")}</span>
      </a>
    </li>
  `;
}

async function choose(state) {
  const user = await firstFound();
  if (user) location.hash = linkTo(state, "people", { user: user.user_id });
}

// walk goes up and down between the field and the links, and from the field to the first of them.
function walk(event, state) {
  const links = [...event.currentTarget.querySelectorAll(".found a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Enter" && at < 0) return choose(state);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || links.length === 0) return;
  event.preventDefault(); // the page would scroll
  const next = Math.min(at + step, links.length - 1);
  if (next < 0) document.getElementById("find").focus();
  else links[next].focus();
}
