// The buttons that act on a throttled user: in their row where there is room, else in a menu below it.

import { html } from "../vendor/htm-preact.js";
import { ask, controlID, nameOf, pardon } from "./amending.js";

// Actions are pardon and the three that ask first. In a menu the first of them takes the focus.
export function Actions({ user, index, asks }) {
  const name = nameOf(user);
  const asking = (action) => ({ user, name: action, isOpen: asks === action, act: () => ask(user, index, action) });
  return html`
    <${Action} user=${user} name=${asks === "menu" ? "first" : "pardon"} does="Pardon" about="Pardon ${name}" act=${() => pardon(user, index)} />
    <${Action} ...${asking("grant")} does="Grant" about="Grant ${name} more messages" />
    <${Action} ...${asking("exempt")} does="Exempt" about="Exempt ${name} from the limits" />
    <${Action} ...${asking("reset")} does="Reset" about="Reset ${name}" />
  `;
}

// Action is one button. isOpen says whether what it opens is open; it is missing where it opens nothing.
export function Action({ user, name, does, about, isOpen, act }) {
  return html`
    <button type="button" class="quiet" id=${controlID(user.user_id, name)} aria-label=${about} aria-expanded=${isOpen === undefined ? null : String(isOpen)}
      onClick=${act}>${does}</button>
  `;
}
