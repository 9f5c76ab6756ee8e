// @ts-check
// Someone who writes in chat: the icons of their roles, and the name in its colour.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { nameOf } from "../core/state.js";
import { readable } from "../words/color.js";
import { heldRoles, roleName } from "../words/roles.js";
import { Icon } from "./icon.js";
/** @import { Named } from "../core/state.js" */

/** @type {Record<string, string>} */
const icons = { broadcaster: "broadcaster", lead_moderator: "moderator", moderator: "moderator", vip: "vip", subscriber: "subscriber", first_timer: "first-timer" };

// Roles shows the icon of each role, highest first. A role of the program's own has its name.
/** @param {{roles: string[] | undefined}} props */
export function Roles({ roles: held }) {
  return heldRoles(held).map((role) => !Object.hasOwn(icons, role) ? html`<span class="role" key=${role}>${roleName(role)}</span> ` : html`
    <span class="role ${role}" key=${role} title=${roleName(role)}><${Icon} name=${icons[role]} /><span class="unseen">${t("widgets.role-before", { role: roleName(role) })}</span></span>
  `);
}

// colorOf returns the style of a name that has a colour in chat.
/** @param {string | undefined} color */
export function colorOf(color) {
  const shown = color && readable(color, document.documentElement.dataset.theme === "dark" ? "dark" : "light");
  return shown ? { color: shown } : {};
}

/** @param {{user: Named & {color?: string}}} props */
export function Name({ user }) {
  return html`<bdi class="name" style=${colorOf(user.color)}>${nameOf(user)}</bdi>`;
}
