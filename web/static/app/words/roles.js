// @ts-check
// The roles of users, and their names. A program may have roles of its own.

import { commas, table } from "../../text/text.js";

// roles are Twitch's roles, highest first.
/** @type {string[]} */
const roles = ["broadcaster", "lead_moderator", "moderator", "vip", "subscriber", "everyone", "first_timer"];

/** @type {Record<string, string>} */
const names = table({
  broadcaster: "words.role-broadcaster", lead_moderator: "words.role-lead-moderator", moderator: "words.role-moderator", vip: "words.role-vip",
  subscriber: "words.role-subscriber", everyone: "words.role-everyone", first_timer: "words.role-first-timer",
});

// rolesOf returns the roles that a policy lists, highest first, or else those that it names.
/** @param {Api.Policy} policy @returns {string[]} */
export function rolesOf({ roles: listed, exempt, limits }) {
  if (listed?.length > 0) return listed;
  return inOrder([...new Set([...(exempt ?? []), ...limits.flatMap((limit) => Object.keys(limit.roles ?? {}))])]);
}

// inOrder sorts roles: those that Twitch has come first, highest first.
/** @param {string[]} some */
const inOrder = (some) => [...roles.filter((role) => some.includes(role)), ...some.filter((role) => !roles.includes(role))];

// heldRoles returns a user's roles in order, without everyone.
/** @param {string[] | undefined} held */
export const heldRoles = (held) => inOrder(held ?? []).filter((role) => role !== "everyone");

// roleName names a role: "lead moderator". A role of the program's own keeps its name.
/** @param {string} role */
export const roleName = (role) => names[role] ?? role;

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
export const roleNames = (held) => commas(heldRoles(held).map(roleName));
