// @ts-check
// An override in words.

import { commas, rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { clock, length, seconds } from "./time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */

/** @type {Record<string, (value: any) => string>} */
const numberWords = {
  burst: (n) => t("rules.own-burst", { n }),
  refill: (text) => t("rules.own-refill", { length: length(seconds(text)) }),
  queue: (n) => t("rules.own-queue", { n }),
  messages: (n) => t("words.messages", { n }),
  extra_burst: (n) => t("rules.own-extra-burst", { n }),
  extra_refill: (text) => t("rules.own-extra-refill", { length: length(seconds(text)) }),
};

// OverrideWords describes an override. It returns none if the override is empty.
/** @param {{own: Api.UserOverride, zone?: string, none: Value}} props */
export function OverrideWords({ own, zone, none }) {
  const { timezone, limits = {} } = own;
  const parts = [
    exemption(own, zone),
    timezone && t("rules.own-zone", { zone: timezone }),
    ...Object.entries(limits).map(([name, numbers]) => rich("rules.own-limit", { limit: html`<bdi>${name}</bdi>`, numbers: numbersInWords(numbers) })),
  ].filter(Boolean);
  if (parts.length === 0) return none;
  return parts.map((part, i) => html`${i > 0 && t("words.semicolon")}${part}`);
}

/** @param {Api.UserOverride} of @param {string} [zone] */
function exemption({ exempt, exempt_until: until }, zone) {
  const time = until && clock(Date.parse(until), zone);
  if (exempt === "always") return time ? t("rules.own-exempt-until", { time }) : t("rules.own-exempt");
  if (exempt === "never") return time ? t("rules.own-never-exempt-until", { time }) : t("rules.own-never-exempt");
  return "";
}

/** @param {Api.Override} numbers */
function numbersInWords(numbers) {
  return commas(Object.entries(numbers).map(([name, value]) => numberWords[name]?.(value) ?? `${name} ${value}`));
}
