// What the pardon of a user has done, and what it has not, in words.

import { amount } from "./algorithms.js";
import { now } from "./state.js";
import { soon, wait } from "./time.js";

const brief = 60_000; // a limit that holds somebody back for no longer is no more than a pause, ms

const count = (n, one, many) => `${amount(n)} ${n === 1 ? one : many}`;

// pardonWords returns {word, sentence, isPartial, isHeld} of the answer to a pardon: word is for a row, isPartial says that something stays, isHeld that
// a limit holds the user back for long.
export function pardonWords(pardon, zone) {
  const isHeld = holdsLong(pardon.held);
  const isPartial = pardon.silence === "kept" || pardon.strikes_left > 0 || pardon.has_older;
  const word = isPartial ? "partly pardoned" : isHeld ? "pardoned, still held back" : "pardoned";
  const sentence = [done(pardon), ...stays(pardon), held(pardon.held, zone)].filter(Boolean).join(" ");
  return { word, sentence, isPartial: isPartial || isHeld, isHeld };
}

function done(pardon) {
  const { again, id, by, messages, strikes_taken: strikes, dropped, silence } = pardon;
  const isOver = again && !id; // chatguard has forgotten what they brought, or the pardon of an earlier run of the program
  const parts = [
    isOver ? "nothing else of these messages counts any more" : count(messages, "message", "messages"),
    strikes > 0 && `${count(strikes, "strike", "strikes")} taken back`,
    dropped > 0 && `${count(dropped, "pending penalty", "pending penalties")} dropped`,
    silence === "lifted" && "timeout or ban lifted",
  ].filter(Boolean);
  if (isOver && parts.length === 1) return "Nothing of these messages counts any more.";
  return `${again && !isOver ? `Already pardoned by ${by}` : "Pardoned"}: ${parts.join(", ")}.`;
}

function stays({ silence, kept, deleted, strikes_left: strikes, has_older: hasOlder, messages }) {
  return [
    silence === "kept" && `The timeout or ban stays: ${kept}.`,
    silence === "lifting" && "A timeout or ban is being given right now; it is lifted as soon as it is there.",
    strikes > 0 && `${count(strikes, "strike", "strikes")} of earlier messages ${strikes === 1 ? "stays" : "stay"}.`,
    hasOlder && `Only the newest ${amount(messages)} messages in a row are pardoned at once.`,
    deleted > 0 && "Deleted messages stay deleted.",
  ];
}

const holdsLong = (held) => Boolean(held) && (held.never || Date.parse(held.may_speak_at) - now() > brief);

function held(by, zone) {
  if (!by) return "";
  const { limit, per, never, may_speak_at: at } = by;
  const whose = per === "channel" ? `${limit}, which everyone shares,` : limit;
  if (never) return `${whose} allows no message at all.`;
  if (!holdsLong(by)) return `${whose} allows the next message in ${wait(Date.parse(at) - now())}.`;
  const remedy = per === "channel" ? "" : " Grant or Reset lets them write now.";
  return `${whose} allows the next message at ${soon(Date.parse(at), zone)}.${remedy}`;
}

// unpardonWords says what undoing a pardon has brought back.
export function unpardonWords({ strikes_restored: strikes, lifted, dropped }) {
  return [
    "Pardon undone.",
    strikes > 0 && `${count(strikes, "strike counts", "strikes count")} again.`,
    lifted && "The timeout or ban is not given again.",
    dropped > 0 && "Dropped penalties are not carried out.",
  ].filter(Boolean).join(" ");
}
