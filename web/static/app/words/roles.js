// @ts-check
// The roles, highest first, and their names.

import { commas, table } from "../../text/text.js";

/** @typedef {Api.Policy["exempt"][number]} Role */

/** @type {Role[]} */
export const roles = ["broadcaster", "lead_moderator", "moderator", "vip", "subscriber", "everyone", "first_timer"];

/** @type {Record<string, string>} */
const names = table({
  broadcaster: "words.role-broadcaster", lead_moderator: "words.role-lead-moderator", moderator: "words.role-moderator", vip: "words.role-vip",
  subscriber: "words.role-subscriber", everyone: "words.role-everyone", first_timer: "words.role-first-timer",
});

// roleName names a role: "lead moderator". Even a role that this page doesn't know is readable.
/** @param {string} role */
export const roleName = (role) => names[role] ?? role.replaceAll("_", " ");

/** @type {Record<string, string>} */
const groups = table({
  broadcaster: "words.group-broadcaster", lead_moderator: "words.group-lead-moderator", moderator: "words.group-moderator", vip: "words.group-vip",
  subscriber: "words.group-subscriber", everyone: "words.group-everyone", first_timer: "words.group-first-timer",
});

// roleGroup names the users who have a role: "subscribers".
/** @param {string} role */
export const roleGroup = (role) => groups[role] ?? roleName(role);

// capitalised writes the first letter as a capital.
/** @param {string} text */
export const capitalised = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// lowered does the opposite.
/** @param {string} text */
export const lowered = (text) => text.charAt(0).toLowerCase() + text.slice(1);

// roleNames lists a user's roles: "subscriber, vip". It leaves out everyone.
/** @param {string[] | undefined} held */
export const roleNames = (held) => commas(roles.filter((role) => role !== "everyone" && held?.includes(role)).map(roleName));
