// @ts-check
// How the overlay looks, as the address says: /overlay?size=60&position=bottom-right#token=…

import { language, languages, t } from "../text/text.js";

const leastSize = 16, mostSize = 120; // px
const mostNames = 10, mostHidden = 20, mostLinger = 600;

const vertical = ["top", "middle", "bottom"], horizontal = ["left", "center", "right"];
const positions = vertical.flatMap((y) => horizontal.map((x) => `${y}-${x}`));
const parts = ["count", "names", "raid"];

/**
 * Looks are how the overlay looks.
 * @typedef {object} Looks
 * @property {number} size of the text, px
 * @property {string} color of the text, as hexadecimal digits
 * @property {string} background a color, or none
 * @property {string} outline a color, or none
 * @property {string} shadow a color, or none
 * @property {string} position
 * @property {number} names how many at most
 * @property {number} linger how long a name stays after its user may write again, s
 * @property {string[]} show parts
 * @property {string} timeouts whether names of users who are timed out or banned are shown
 * @property {string[]} hide IDs of users whose names aren't shown
 */

/**
 * Setting is one parameter. usual is its default. read returns the value of a text, or undefined if
 * the text is wrong; wanted then says what to write instead.
 * @template T
 * @typedef {{usual: T, read: (text: string) => T | undefined, wanted: () => string}} Setting
 */

/** @param {number} least @param {number} most @param {number} usual @returns {Setting<number>} */
const number = (least, most, usual) => ({
  usual,
  read: (text) => (/^\d{1,4}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
  wanted: () => t("overlay.wanted-number", { least, most }),
});

/** @param {string} text */
const readColor = (text) => (/^#?([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i.test(text) ? text.replace("#", "").toLowerCase() : undefined);

/** @param {string} usual @returns {Setting<string>} */
const color = (usual) => ({ usual, read: readColor, wanted: () => t("overlay.wanted-color") });

/** @param {string} usual @returns {Setting<string>} */
const colorOrNone = (usual) => ({ usual, read: (text) => (text === "none" ? text : readColor(text)), wanted: () => t("overlay.wanted-color-or-none") });

/** @param {string[]} choices @param {string} usual @returns {Setting<string>} */
const choice = (choices, usual) => ({
  usual,
  read: (text) => (choices.includes(text) ? text : undefined),
  wanted: () => t("overlay.wanted-choice", { choices: choices.join(", ") }),
});

/** @type {{[Name in keyof Looks]: Setting<Looks[Name]>}} */
const settings = {
  size: number(leastSize, mostSize, 40),
  color: color("ffffff"),
  background: colorOrNone("none"),
  outline: colorOrNone("000000"),
  shadow: colorOrNone("000000b3"),
  position: choice(positions, "top-left"),
  names: number(0, mostNames, 5),
  linger: number(0, mostLinger, 10),
  show: {
    usual: parts,
    read: (text) => (text.split(",").every((part) => parts.includes(part)) ? text.split(",") : undefined),
    wanted: () => t("overlay.wanted-choices", { choices: parts.join(", ") }),
  },
  timeouts: choice(["show", "hide"], "show"),
  hide: {
    usual: [],
    read: (text) => (text !== "" && text.split(",").length <= mostHidden ? text.split(",") : undefined),
    wanted: () => t("overlay.wanted-ids", { most: mostHidden }),
  },
};

const languageSetting = choice(Object.keys(languages), language); // the server has chosen it

/** @returns {Looks} */
export const usualLooks = () => /** @type {any} */ (Object.fromEntries(Object.entries(settings).map(([name, { usual }]) => [name, usual])));

// parse returns the looks of a query, and a line for each parameter that can't be used.
/** @param {string} query */
export function parse(query) {
  const looks = usualLooks(), all = { ...settings, language: languageSetting };
  /** @type {string[]} */
  const problems = [];
  for (const [name, text] of new URLSearchParams(query)) {
    const setting = Object.hasOwn(all, name) ? /** @type {Record<string, Setting<any>>} */ (all)[name] : undefined;
    const value = setting?.read(text.trim());
    if (!setting) problems.push(t("overlay.wrong-unknown", { name: clip(name), names: Object.keys(all).join(", ") }));
    else if (value === undefined) problems.push(t("overlay.wrong", { name, value: clip(text), wanted: setting.wanted() }));
    else if (name in looks) /** @type {any} */ (looks)[name] = value;
  }
  return { looks, problems };
}

const longest = 40; // characters of a text from the address

/** @param {string} text */
const clip = (text) => (text.length > longest ? text.slice(0, longest) + "…" : text);

// print returns the query of looks. It leaves out defaults.
/** @param {Looks} looks */
export function print(looks) {
  const query = new URLSearchParams();
  for (const [name, { usual }] of Object.entries(settings)) {
    const text = String(/** @type {any} */ (looks)[name]);
    if (text !== String(usual) && text !== "") query.set(name, text);
  }
  return String(query).replaceAll("%2C", ",");
}

// styleOf returns the custom properties of looks.
/** @param {Looks} looks */
export function styleOf({ size, color, background, outline, shadow }) {
  const shadows = [...(outline === "none" ? [] : outlineOf(outline)), ...(shadow === "none" ? [] : [`0.05em 0.06em 0.12em #${shadow}`])];
  return {
    "--overlay-size": `${size}px`,
    "--overlay-color": `#${color}`,
    "--overlay-background": background === "none" ? "transparent" : `#${background}`,
    "--overlay-shadow": shadows.join(", ") || "none",
  };
}

const outlineWidth = 0.055, outlineSteps = 16; // in em, and in how many directions

// outlineOf returns shadows all around the text. A stroke would cover thin letters, because OBS's
// Chromium draws it over them.
/** @param {string} color */
const outlineOf = (color) => Array.from({ length: outlineSteps }, (_, i) => {
  const angle = (2 * Math.PI * i) / outlineSteps;
  return `${(outlineWidth * Math.cos(angle)).toFixed(4)}em ${(outlineWidth * Math.sin(angle)).toFixed(4)}em 0.01em #${color}`;
});
