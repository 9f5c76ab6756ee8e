// @ts-check
// The people of the chat and what they say. All of them are invented.

import { t } from "../../text/text.js";
/** @import { TextKey } from "../../text/text.js" */

const names = [
  "Anna", "Ben", "Clara", "Dilan", "Emre", "Finn", "Greta", "Hugo", "Ines", "Jonas", "Kaja", "Leo", "Mira", "Noor", "Oskar", "Pia", "Quinn", "Rosa", "Samir", "Tilda", "Uma", "Vito", "Wanda", "Yuki",
];

export const spammer = "spammer";

// isSpam reports whether a spammer has the user ID: the only one, or one of several.
/** @param {string} id */
export const isSpam = (id) => id === spammer || id.startsWith(`${spammer}-`);

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
  if (isSpam(id)) {
    const number = Number(id.slice(spammer.length + 1));
    return { name: number > 0 ? `DealsBot ${number}` : "DealsBot", kind: "spammer", number };
  }
  const [, digits] = /^(?:person|user)-(\d+)$/.exec(id) ?? [];
  if (!digits) return { name: t("lab.you"), kind: "you", number: 0 };
  const number = Number(digits) - 1, round = Math.floor(number / names.length);
  return { name: names[number % names.length] + (round > 0 ? ` ${round + 1}` : ""), kind: "person", number };
}

/** @param {TextKey} key */
const textsOf = (key) => t(key).split(" / ");

// lineOf returns what a message says that was sent by hand.
/** @param {number} at lab time, ms */
export function lineOf(at) {
  const all = textsOf("lab.chat-lines");
  return all[mix(Math.round(at)) % all.length];
}

const variants = 40;

// What accounts do to a text that they paste, so that a filter of equal texts doesn't find it.
/** @type {((text: string) => string)[]} */
const tricks = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => `@anna ${text}`,
  (text) => `${text}!!!`,
  (text) => `🔥 ${text} 🔥`,
  (text) => [...text].join("\u200b"), // zero-width spaces
  (text) => text.replace(/[aeo]/g, (letter) => ({ a: "а", e: "е", o: "о" })[letter]), // Cyrillic
];

// copiesOf returns variants of a text.
/** @param {string} text */
export const copiesOf = (text) => Array.from({ length: variants }, (_, i) => tricks[i % tricks.length](i < tricks.length ? text : `${text} ${i}`));

// chatTexts returns what people and spammers write in turn. A single spammer has several texts, and
// many paste variants of one.
/** @param {boolean} isRaid */
export function chatTexts(isRaid) {
  const spam = textsOf("lab.chat-spam");
  return { lines: textsOf("lab.chat-lines"), spam_lines: isRaid ? copiesOf(spam[0]) : spam };
}

// mix spreads whole numbers evenly.
/** @param {number} number */
function mix(number) {
  let mixed = Math.imul(number ^ (number >>> 16), 0x45d9f3b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}
