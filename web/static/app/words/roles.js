// @ts-check
// The roles, highest first, and their names.

/** @typedef {Api.Policy["exempt"][number]} Role */

/** @type {Role[]} */
export const roles = ["broadcaster", "lead_moderator", "moderator", "vip", "subscriber", "everyone", "first_timer"];

/** @param {string} role */
export const roleName = (role) => role.replaceAll("_", " ");

/** @type {Record<string, string>} */
const groups = {
  broadcaster: "the broadcaster", lead_moderator: "lead moderators", moderator: "moderators", vip: "VIPs", subscriber: "subscribers",
  everyone: "everyone", first_timer: "first-time chatters",
};

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
export const roleNames = (held) => roles.filter((role) => role !== "everyone" && held?.includes(role)).map(roleName).join(", ");
