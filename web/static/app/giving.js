// What a user can be given, as their card says it: extra messages in which limits, and an exemption for how long.

import { now } from "./state.js";
import { soon } from "./time.js";

// grantable are the limits in which a single user can be given anything.
export const grantable = ({ limits }) => limits.filter(({ per }) => per !== "channel");

// grantedUsually is the name of that in which messages are granted where nobody says otherwise: the first that counts by days, or else the first.
export function grantedUsually(card) {
  const limits = grantable(card);
  return (limits.find(({ algorithm }) => algorithm === "daily-window") ?? limits[0])?.name;
}

// exemptLengths are the lengths that an exemption can have: [{length, name}]. Without a card, when the day ends isn't known yet.
export function exemptLengths(card) {
  return [
    { length: "10m", name: "for 10 minutes" },
    { length: "1h", name: "for an hour" },
    { length: "4h", name: "for 4 hours" },
    { length: "day", name: `until their day ends, ${card ? soon(Date.parse(card.day_ends), card.timezone) : "…"}` },
    { length: "", name: "for good" },
  ];
}

// lengthAsked is one of those lengths as chatguard is asked for it.
export const lengthAsked = (card, length) => (length === "day" ? `${Math.ceil((Date.parse(card.day_ends) - now()) / 1000)}s` : length);
