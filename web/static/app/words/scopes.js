// @ts-check
// The scopes of limits: who shares an allowance.

import { table } from "../../text/text.js";

/** @typedef {{per?: string}} Scoped a limit without a scope counts each user in each channel */

// sharers say who shares a limit, by its scope.
/** @type {Record<string, string>} */
export const sharers = table({ user: "rules.per-user", "user-everywhere": "rules.per-user-everywhere", channel: "rules.per-channel", everywhere: "rules.per-everywhere", "user-text": "rules.per-user-text", text: "rules.per-text" });

// isText reports whether a limit is on repeated text: each text has an allowance, and no user has.
/** @param {Scoped} limit */
export const isText = ({ per }) => per === "user-text" || per === "text";

// isShared reports whether everyone shares one allowance, whatever they write.
/** @param {Scoped} limit */
export const isShared = ({ per }) => per === "channel" || per === "everywhere";

// isAcrossChannels reports whether a limit counts in all channels together.
/** @param {Scoped} limit */
export const isAcrossChannels = ({ per }) => per === "user-everywhere" || per === "everywhere";
