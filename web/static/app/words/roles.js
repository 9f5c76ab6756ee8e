// @ts-check
// The roles, highest first, and their names.

/** @typedef {Api.Policy["exempt"][number]} Role */

/** @type {Role[]} */
export const roles = ["broadcaster", "lead_moderator", "moderator", "vip", "subscriber", "everyone", "first_timer"];

/** @param {string} role */
export const roleName = (role) => role.replaceAll("_", " ");

// roleNames lists a user's roles: "subscriber, vip". It leaves out everyone.
/** @param {string[] | undefined} held */
export const roleNames = (held) => roles.filter((role) => role !== "everyone" && held?.includes(role)).map(roleName).join(", ");
