// @ts-check
// The user search: a field, and a list of links. The arrow keys move between them.

import { rich, t } from "../../text/text.js";
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
      <label for="find">${t("people.find")}</label>
      <input id="find" type="search" autocomplete="off" spellcheck=${false} maxlength="256" value=${text} onInput=${(event) => type(event.target.value)} />
      <div class="tabs" role="group" aria-label=${t("people.users-shown")}>
        <button type="button" aria-pressed=${onlyNoted ? "false" : "true"} onClick=${() => showNoted(false)}>${t("people.all")}</button>
        <button type="button" aria-pressed=${onlyNoted ? "true" : "false"} onClick=${() => showNoted(true)}><${Icon} name="note" />${t("people.noted")}</button>
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
  if (!found) return t("people.searching");
  const { text, noted, users, isMore } = found;
  const n = users.length;
  if (noted && text === "" && n === 0) return t("people.none-noted");
  if (noted && text === "") return isMore ? t("people.first-noted", { n }) : t("people.all-noted");
  if (text === "") return n > 0 ? t("people.recent") : t("people.nobody");
  if (n === 0) return rich("people.no-match", { text: html`<bdi>${text}</bdi>` });
  return isMore ? t("people.best-matches", { n }) : t("people.matches", { n });
}

/** @param {{state: State, user: Api.Person}} props */
function Found({ state, user }) {
  const { user_id: id, roles, last_seen: seen, notes = 0 } = user;
  const about = [loginOf(user), roleNames(roles), Date.parse(seen) > 0 && stamp(Date.parse(seen))].filter(Boolean).join(" · ");
  return html`
    <li>
      <a href=${linkTo(state, "people", { user: id })} aria-current=${id === state.query.user ? "true" : null}>
        <span class="name"><bdi>${nameOf(user)}</bdi>${notes > 0 && html`<span class="noted" title=${t("people.note-count", { n: notes })}><${Icon} name="note" /><span class="unseen">${t("people.has-notes")}</span></span>`}</span>
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
