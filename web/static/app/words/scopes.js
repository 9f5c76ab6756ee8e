// @ts-check
// The scopes of limits: who shares an allowance.

/** @typedef {{per?: string}} Scoped a limit without a scope counts each user in each channel */

// sharers say who shares a limit, by its scope.
/** @type {Record<string, string>} */
export const sharers = {
  user: "per user",
  "user-everywhere": "per user, across all channels",
  channel: "shared by everyone",
  everywhere: "shared by everyone, across all channels",
};

// isShared reports whether everyone shares one allowance.
/** @param {Scoped} limit */
export const isShared = ({ per }) => per === "channel" || per === "everywhere";

// isAcrossChannels reports whether a limit counts in all channels together.
/** @param {Scoped} limit */
export const isAcrossChannels = ({ per }) => per === "user-everywhere" || per === "everywhere";
