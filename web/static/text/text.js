// @ts-check
// The texts of the pages, in the language of the document. Each folder beside this file holds the
// catalogues of one language, one for each part of the pages, in the JSON format of i18next, which
// translators' tools read. A catalogue maps names to texts. The key of a text is the catalogue and
// the name: "now.pause".
//
// A text may contain placeholders: "Paused by {{who}}". A text that depends on the number n has a
// form for each plural category of the language: "users_one", "users_other". Its key is without the
// category: "now.users". Numbers are written as the language writes them.
//
// Texts are looked up when a page is drawn, so a module must not call t or rich while it is loaded.
// The document's first module loads the parts that it needs with loadTexts, and modules that are
// loaded later load theirs.

/** @import { Value } from "../vendor/htm-preact.js" */

/**
 * Parts are the catalogues, which must have the same keys in all languages.
 * @typedef {object} Parts
 * @property {typeof import("./en/admin.json")} admin
 * @property {typeof import("./en/device.json")} device
 * @property {typeof import("./en/entries.json")} entries
 * @property {typeof import("./en/lab.json")} lab
 * @property {typeof import("./en/limits.json")} limits
 * @property {typeof import("./en/now.json")} now
 * @property {typeof import("./en/overlay.json")} overlay
 * @property {typeof import("./en/people.json")} people
 * @property {typeof import("./en/records.json")} records
 * @property {typeof import("./en/rules.json")} rules
 * @property {typeof import("./en/shell.json")} shell
 * @property {typeof import("./en/start.json")} start
 * @property {typeof import("./en/unread.json")} unread
 * @property {typeof import("./en/webhooks.json")} webhooks
 * @property {typeof import("./en/widgets.json")} widgets
 * @property {typeof import("./en/words.json")} words
 * @property {typeof import("./en/viewer.json")} viewer
 */

/** @template {string} Name @typedef {Name extends `${infer Text}_${Intl.LDMLPluralRule}` ? Text : Name} WithoutForm */
/** @typedef {{[Part in keyof Parts]: `${Part}.${WithoutForm<keyof Parts[Part] & string>}`}[keyof Parts]} TextKey */

// languages maps each language to its own name.
export const languages = { en: "English", de: "Deutsch", es: "Español", "pt-BR": "Português (Brasil)", ja: "日本語" };

/** @typedef {keyof typeof languages} Language */

// language is the language of the document, which the server chooses.
export const language = /** @type {Language} */ (globalThis.document?.documentElement.lang || "en");

// locale is the language for Intl. English is written with days before months.
export const locale = language === "en" ? "en-GB" : language;

/** @type {Map<string, string>} */
const texts = new Map();

/** @type {Map<keyof Parts, Promise<void>>} */
const loads = new Map(); // those in progress or done

// loadTexts loads the texts of parts, each once.
/** @param {(keyof Parts)[]} parts */
export async function loadTexts(...parts) {
  for (const part of parts) if (!loads.has(part)) loads.set(part, load(part));
  await Promise.all(parts.map((part) => loads.get(part)));
}

/** @param {keyof Parts} part */
async function load(part) {
  try {
    const answer = await fetch(new URL(`${language}/${part}.json`, import.meta.url));
    if (!answer.ok) throw new Error(`the texts ${part} can't be loaded: ${answer.status}`);
    for (const [name, text] of Object.entries(await answer.json())) texts.set(`${part}.${name}`, text);
  } catch (problem) {
    loads.delete(part); // so that the next call tries again
    throw problem;
  }
}

const plural = new Intl.PluralRules(locale);

// number writes numbers as the texts do: "15,750".
export const number = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });

// t returns a text. values are the placeholders' values.
/** @param {TextKey} key @param {Record<string, string | number>} [values] @returns {string} */
export function t(key, values) {
  return rich(key, values).join("");
}

// rich returns a text in pieces, for placeholders whose values are views.
/** @param {TextKey} key @param {Record<string, Value>} [values] @returns {Value[]} */
export function rich(key, values = {}) {
  return piecesOf(textOf(key, values)).map((piece, i) => (i % 2 === 0 ? piece : written(values[piece])));
}

/** @param {TextKey} key @param {Record<string, Value>} values */
function textOf(key, { n }) {
  const text = texts.get(key) ?? texts.get(`${key}_${plural.select(Number(n))}`) ?? texts.get(`${key}_other`);
  if (text === undefined) throw new Error(`the text ${key} isn't loaded`);
  return text;
}

/** @type {Map<string, string[]>} */
const split = new Map();

// piecesOf splits a text. Every second piece is the name of a placeholder.
/** @param {string} text */
function piecesOf(text) {
  const pieces = split.get(text) ?? text.split(/\{\{(\w+)\}\}/);
  split.set(text, pieces);
  return pieces;
}

/** @param {Value} value */
const written = (value) => (typeof value === "number" ? number.format(value) : value);

const lists = new Intl.ListFormat(locale, { type: "conjunction" });

// list joins values, which may be views: "a, b and c". Join the pieces if all values are texts.
/** @param {Value[]} values @returns {Value[]} */
export function list(values) {
  let next = 0;
  return lists.formatToParts(values.map(String)).map(({ type, value }) => (type === "element" ? values[next++] : value));
}

// comma is what stands between the values of a list, such as ", ". Japanese has another one.
export const comma = lists.formatToParts(["a", "b", "c"])[1].value;

// commas joins texts: "a, b, c". Empty ones are left out.
/** @param {(string | false | null | undefined)[]} texts */
export const commas = (texts) => texts.filter(Boolean).join(comma);

// gap is what stands between sentences, and between a number and its unit. Japanese has no spaces.
export const gap = /** @type {string} */ (language) === "ja" ? "" : " ";

// sentences joins complete sentences. Empty ones are left out.
/** @param {(string | false | null | undefined)[]} texts */
export const sentences = (...texts) => texts.filter(Boolean).join(gap);

// table returns an object with texts, from their keys. A text is looked up when it is read, so a
// module may call table while it is loaded.
/** @template {string} Name @param {Record<Name, TextKey>} keys @returns {Readonly<Record<Name, string>>} */
export function table(keys) {
  const found = /** @type {Record<Name, string>} */ (Object.create(null));
  for (const [name, key] of Object.entries(keys)) Object.defineProperty(found, name, { get: () => t(/** @type {TextKey} */ (key)), enumerable: true });
  return found;
}

// chooseLanguage shows the page in another language, also in future.
/** @param {string} chosen */
export function chooseLanguage(chosen) {
  const { pathname } = new URL(".", document.baseURI);
  document.cookie = `chatguard-language=${chosen}; path=${pathname}; max-age=31536000; SameSite=Lax`;
  location.reload();
}
