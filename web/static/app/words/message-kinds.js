// @ts-check
// The kinds of messages that a policy may exempt, and their names. A program may have kinds of its
// own.

import { state } from "../core/state.js";
import { table } from "../../text/text.js";

/** @type {string[]} */
const messageKinds = ["bits", "power_up", "hype_chat", "reward", "highlighted", "resub", "watch_streak", "emotes"];

/** @type {Record<string, string>} */
const names = table({
  bits: "words.message-bits", power_up: "words.message-power-up", hype_chat: "words.message-hype-chat", reward: "words.message-reward",
  highlighted: "words.message-highlighted", resub: "words.message-resub", watch_streak: "words.message-watch-streak",
  emotes: "words.message-emotes",
});

// kindsOf returns the kinds that a policy can exempt here: those that it exempts and, unless the
// dashboard is part of another server, Twitch's.
/** @param {Api.Policy} policy */
export const kindsOf = ({ exempt_messages: exempt }) => [...new Set([...(state.me.mounted ? [] : messageKinds), ...(exempt ?? [])])];

// messageKindName names the messages of a kind: "cheers".
/** @param {string} kind */
export const messageKindName = (kind) => names[kind] ?? kind;
