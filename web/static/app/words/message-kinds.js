// @ts-check
// The kinds of messages that a policy may exempt, and their names.

import { table } from "../../text/text.js";

/** @typedef {NonNullable<Api.Policy["exempt_messages"]>[number]} MessageKind */

/** @type {MessageKind[]} */
export const messageKinds = ["bits", "power_up", "hype_chat", "reward", "highlighted", "resub", "watch_streak"];

/** @type {Record<string, string>} */
const names = table({
  bits: "words.message-bits", power_up: "words.message-power-up", hype_chat: "words.message-hype-chat", reward: "words.message-reward",
  highlighted: "words.message-highlighted", resub: "words.message-resub", watch_streak: "words.message-watch-streak",
});

// messageKindName names the messages of a kind: "cheers".
/** @param {string} kind */
export const messageKindName = (kind) => names[kind] ?? kind.replaceAll("_", " ");
