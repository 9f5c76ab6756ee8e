// @ts-check
// Colours of names in chat, made readable.

/** @typedef {"light" | "dark"} Theme */

// grounds are the backgrounds on which a name has the least contrast: what is under the mouse in
// each theme, for people who want more contrast.
/** @type {Record<Theme, number[]>} */
const grounds = { light: [0xdf, 0xe1, 0xe8], dark: [0x2f, 0x32, 0x3a] };

const enough = 4.5; // the contrast that WCAG asks for
const step = 0.05;
const most = 0.8; // of white or black in a colour; with more, nothing is left of it

/** @type {Map<string, string>} */
const known = new Map();
const mostKnown = 5000;

// readable returns a colour such as "#1e90ff" as it can be read in a theme: mixed with white or
// black if necessary. It returns "" if there is no colour, or none that is readable.
/** @param {string} color @param {Theme} theme */
export function readable(color, theme) {
  const key = theme + color;
  if (!known.has(key)) {
    if (known.size >= mostKnown) known.clear();
    known.set(key, mixed(color, theme));
  }
  return known.get(key);
}

/** @param {string} color @param {Theme} theme */
function mixed(color, theme) {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return "";
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const end = theme === "dark" ? 255 : 0;
  for (let share = 0; share <= most; share += step) {
    const mix = parts.map((part) => Math.round(part + (end - part) * share));
    if (contrast(mix, grounds[theme]) >= enough) return "#" + mix.map((part) => part.toString(16).padStart(2, "0")).join("");
  }
  return "";
}

// contrast returns the contrast of two colours, from 1 to 21, as WCAG 2 defines it.
/** @param {number[]} one @param {number[]} other */
export function contrast(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** @param {number[]} rgb */
function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
