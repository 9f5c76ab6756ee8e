// The roles, in falling order, and what they are called among other words.

export const roles = ["broadcaster", "lead_moderator", "moderator", "vip", "subscriber", "everyone", "first_timer"];

export const roleName = (role) => role.replaceAll("_", " ");

// roleNames lists the roles that somebody has: "subscriber, vip". Everybody is everyone, so that says nothing of anybody.
export const roleNames = (held) => roles.filter((role) => role !== "everyone" && held?.includes(role)).map(roleName).join(", ");
