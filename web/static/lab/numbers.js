// @ts-check
// Numbers with decimals, as the page's language writes them.

import { locale, t } from "../text/text.js";

/** @type {Intl.NumberFormat[]} by their decimals */
const formats = [];

// fixed writes a number with so many decimals: "12.0".
/** @param {number} number @param {number} decimals */
export function fixed(number, decimals) {
  formats[decimals] ??= new Intl.NumberFormat(locale, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return formats[decimals].format(Number(number.toFixed(decimals)));
}

const significant = new Intl.NumberFormat(locale, { maximumSignificantDigits: 3 });

// percentText writes a percentage with three digits: "6.01 %".
/** @param {number} percent */
export const percentText = (percent) => t("lab.percent", { percent: significant.format(percent) });

// shareText writes a percentage with one decimal: "14.3 %".
/** @param {number} percent */
export const shareText = (percent) => t("lab.percent", { percent: fixed(percent, 1) });
