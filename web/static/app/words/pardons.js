// @ts-check
// The effect of pardoning a user, in words.

import { now } from "../core/state.js";
import { amount } from "./algorithms.js";
import { isShared } from "./scopes.js";
import { upcoming, wait } from "./time.js";

/** @typedef {NonNullable<Api.postChannelsUsersPardon["held"]>} HeldBy */

const brief = 60_000; // ms; for a shorter wait, no remedy is suggested

/** @param {number} n @param {string} one @param {string} many */
const count = (n, one, many) => `${amount(n)} ${n === 1 ? one : many}`;

// pardonWords describes the answer to a pardon: {word, sentence, isPartial, isHeld}. word is short
// enough for a row. isHeld reports whether a limit still makes the user wait long. isPartial
// reports whether such a wait remains, or a penalty, strike or message that wasn't pardoned.
/** @param {Api.postChannelsUsersPardon} pardon @param {string} [zone] */
export function pardonWords(pardon, zone) {
  const isHeld = holdsLong(pardon.held);
  const isPartial = pardon.silence === "kept" || pardon.strikes_left > 0 || pardon.has_older;
  const word = isPartial ? "partly pardoned" : isHeld ? "pardoned, still throttled" : "pardoned";
  const sentence = [done(pardon), ...stays(pardon), held(pardon.held, zone)].filter(Boolean).join(" ");
  return { word, sentence, isPartial: isPartial || isHeld, isHeld };
}

/** @param {Api.postChannelsUsersPardon} pardon */
function done(pardon) {
  const { again, id, by, messages, strikes_taken: strikes, dropped, silence } = pardon;
  const isOver = again && !id; // chatguard has no details of the pardon, as after a restart
  const parts = [
    isOver ? "these messages no longer count" : count(messages, "message", "messages"),
    strikes > 0 && `${count(strikes, "strike", "strikes")} removed`,
    dropped > 0 && `${count(dropped, "pending penalty", "pending penalties")} cancelled`,
    silence === "lifted" && "timeout or ban lifted",
  ].filter(Boolean);
  if (isOver && parts.length === 1) return "These messages no longer count.";
  return `${again && !isOver ? `Already pardoned by ${by}` : "Pardoned"}: ${parts.join(", ")}.`;
}

/** @param {Api.postChannelsUsersPardon} of */
function stays({ silence, kept, deleted, strikes_left: strikes, has_older: hasOlder, messages }) {
  return [
    silence === "kept" && `The timeout or ban remains: ${kept}.`,
    silence === "lifting" && "A timeout or ban is being sent. It will be lifted right after.",
    strikes > 0 && `${count(strikes, "strike", "strikes")} from earlier messages ${strikes === 1 ? "remains" : "remain"}.`,
    hasOlder && `Older messages are not pardoned: one pardon covers the newest ${amount(messages)}.`,
    deleted > 0 && "Deleted messages stay deleted.",
  ];
}

/** @param {HeldBy | null | undefined} held */
const holdsLong = (held) => Boolean(held) && (held.never || Date.parse(held.may_speak_at) - now() > brief);

/** @param {HeldBy | null | undefined} by @param {string | undefined} zone */
function held(by, zone) {
  if (!by) return "";
  const { limit, never, may_speak_at: at } = by;
  const subject = `The limit “${limit}”${isShared(by) ? ", shared by everyone," : ""}`;
  if (never) return `${subject} allows no messages at all.`;
  if (!holdsLong(by)) return `${subject} allows the next message in ${wait(Date.parse(at) - now())}.`;
  const remedy = isShared(by) ? "" : " To let them write now, use Grant or Reset.";
  return `${subject} allows the next message at ${upcoming(Date.parse(at), zone)}.${remedy}`;
}

// unpardonWords describes the effect of undoing a pardon.
/** @param {Api.deleteChannelsUsersPardon} of */
export function unpardonWords({ strikes_restored: strikes, lifted, dropped }) {
  return [
    "Pardon undone.",
    strikes > 0 && `${count(strikes, "strike", "strikes")} restored.`,
    lifted && "The timeout or ban is not repeated.",
    dropped > 0 && "Cancelled penalties stay cancelled.",
  ].filter(Boolean).join(" ");
}
