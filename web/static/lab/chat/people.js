// @ts-check
// The people of the chat and what they say. All of them are invented.

import { t } from "../../text/text.js";

const names = [
  "Anna", "Ben", "Clara", "Dilan", "Emre", "Finn", "Greta", "Hugo", "Ines", "Jonas", "Kaja", "Leo", "Mira", "Noor", "Oskar", "Pia", "Quinn", "Rosa", "Samir", "Tilda", "Uma", "Vito", "Wanda", "Yuki",
];

export const spammer = "spammer";

/** @typedef {{name: string, kind: "person" | "spammer" | "you", number: number}} Person */

/** @type {Map<string, Person>} */
const known = new Map();

// personOf returns who writes under a user ID of the traffic.
/** @param {string} id @returns {Person} */
export function personOf(id) {
  if (!known.has(id)) known.set(id, newPerson(id));
  return known.get(id);
}

/** @param {string} id @returns {Person} */
function newPerson(id) {
  if (id === spammer) return { name: "DealsBot", kind: "spammer", number: 0 };
  const [, digits] = /^(?:person|user)-(\d+)$/.exec(id) ?? [];
  if (!digits) return { name: t("lab.you"), kind: "you", number: 0 };
  const number = Number(digits) - 1, round = Math.floor(number / names.length);
  return { name: names[number % names.length] + (round > 0 ? ` ${round + 1}` : ""), kind: "person", number };
}

// lineOf returns what a message says. It is the same in both chats.
/** @param {Person} person @param {number} at lab time, ms */
export function lineOf({ kind, number }, at) {
  const all = (kind === "spammer" ? t("lab.chat-spam") : t("lab.chat-lines")).split(" / ");
  return all[mix(Math.round(at) + 7919 * number) % all.length];
}

// mix spreads whole numbers evenly.
/** @param {number} number */
function mix(number) {
  let mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
