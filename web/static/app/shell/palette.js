// @ts-check
// The command palette: a field, and the commands and users that match it.

import { t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { linkTo } from "../core/route.js";
import { ifSignedOut } from "../core/session.js";
import { loginOf, nameOf } from "../core/state.js";
import { commandsOf, matching } from "./commands.js";
import { Dialog } from "../widgets/dialog.js";
import { Icon } from "../widgets/icon.js";
import { roleNames } from "../words/roles.js";
/** @import { State } from "../core/state.js" */
/** @import { Command } from "./commands.js" */

const typingPause = 150; // from the last key to the search, ms
const mostUsers = 6;

/** @param {{state: State, onClose: () => void}} props */
export function Palette({ state, onClose }) {
  const [text, write] = useState("");
  const [at, point] = useState(0);
  const { users, problem } = useUsers(state, text.trim());
  const entries = [...matching(commandsOf(state), text), ...users];
  const chosen = Math.min(at, entries.length - 1);
  /** @param {string} typed */
  const type = (typed) => {
    write(typed);
    point(0);
  };
  return html`
    <${Dialog} label=${t("shell.palette")} name="palette" isBare onClose=${onClose}>
      <div class="palette-field">
        <${Icon} name="search" />
        <input type="text" role="combobox" aria-label=${t("shell.palette-field")} placeholder=${t("shell.palette-hint")} autocomplete="off" spellcheck=${false} maxlength="256"
          aria-expanded="true" aria-controls="palette-entries" aria-activedescendant=${entries[chosen] ? `palette-${chosen}` : null}
          value=${text} onInput=${(event) => type(event.target.value)} onKeyDown=${(event) => steer(event, entries, chosen, point)} />
        <kbd>Esc</kbd>
      </div>
      <ul id="palette-entries" role="listbox" aria-label=${t("shell.palette-list")}>
        ${entries.map((entry, i) => html`<${Entry} key=${entry.id} entry=${entry} index=${i} isChosen=${i === chosen} />`)}
      </ul>
      <p class="palette-note ${problem ? "error" : "muted"}" role="status">${problem || (entries.length === 0 ? t("shell.palette-none") : "")}</p>
    <//>
  `;
}

/** @param {{entry: Command, index: number, isChosen: boolean}} props */
function Entry({ entry, index, isChosen }) {
  const { name, icon, about, keys = "" } = entry;
  /** @param {Event & {currentTarget: Element}} event */
  const click = (event) => choose(entry, event.currentTarget);
  return html`
    <li id="palette-${index}" role="option" aria-selected=${isChosen ? "true" : "false"} onClick=${click}>
      <${Icon} name=${icon} />
      <span class="name"><bdi>${name}</bdi>${about && html` <span class="muted">${about}</span>`}</span>
      ${keys.split(" ").filter(Boolean).map((key) => html`<kbd>${key}</kbd>`)}
    </li>
  `;
}

// choose closes the palette, which returns the focus, then runs a command.
/** @param {Command} entry @param {Element} inside */
function choose(entry, inside) {
  inside.closest("dialog").close();
  entry.run();
}

// steer moves through the entries by the arrow keys, and runs one by Enter.
/**
 * @param {KeyboardEvent & {currentTarget: Element}} event
 * @param {Command[]} entries
 * @param {number} at
 * @param {(at: number) => void} point
 */
function steer(event, entries, at, point) {
  if (event.isComposing || entries.length === 0) return;
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step) {
    event.preventDefault(); // the cursor would move
    const next = (at + step + entries.length) % entries.length;
    point(next);
    document.getElementById(`palette-${next}`)?.scrollIntoView({ block: "nearest" });
  }
  if (event.key === "Enter") choose(entries[at], event.currentTarget);
}

/** @type {{users: Command[], problem: string}} */
const nobody = { users: [], problem: "" };

// useUsers returns the users of the channel that match a text, as commands that open their cards.
/** @param {State} state @param {string} text */
function useUsers(state, text) {
  const [found, keep] = useState(nobody);
  useEffect(() => {
    if (!text || !state.channel) return keep(nobody);
    const search = new AbortController();
    const timer = setTimeout(() => find(state, text, search.signal).then((found) => found && keep(found)), typingPause);
    return () => {
      clearTimeout(timer);
      search.abort();
    };
  }, [text, state.channel]);
  return text ? found : nobody;
}

/** @param {State} state @param {string} text @param {AbortSignal} signal */
async function find(state, text, signal) {
  try {
    const { body } = await request("GET", `/users?${new URLSearchParams({ channel: state.channel, q: text })}`, { signal });
    /** @type {Api.Person[]} */
    const users = body.users.slice(0, mostUsers);
    return { users: users.map((user) => commandOf(state, user)), problem: "" };
  } catch (problem) {
    if (!signal.aborted && !ifSignedOut(problem)) return { ...nobody, problem: problem.message };
  }
}

/** @param {State} state @param {Api.Person} user @returns {Command} */
function commandOf(state, user) {
  const { user_id: id, roles } = user;
  const about = [loginOf(user), roleNames(roles)].filter(Boolean).join(" · ") || t("shell.user");
  return {
    id: `user-${id}`, name: nameOf(user), icon: "people", about,
    run: () => (location.hash = linkTo(state, "people", { user: id })),
  };
}
