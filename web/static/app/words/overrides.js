// @ts-check
// An override in words.

import { html } from "../../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { clock, length, seconds } from "./time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */

/** @type {Record<string, (value: any) => string>} */
const numberWords = {
  burst: (number) => `${amount(number)} at once`,
  refill: (text) => `one more every ${length(seconds(text))}`,
  queue: (number) => `queue of ${amount(number)}`,
  messages: (number) => `${amount(number)} messages`,
  extra_burst: (number) => `${amount(number)} more at low priority`,
  extra_refill: (text) => `one more at low priority every ${length(seconds(text))}`,
};

/** @type {Record<string, string>} */
const exemptions = { always: "exempt from all limits", never: "never exempt" };

// OverrideWords describes an override. It returns none if the override is empty.
/** @param {{own: Api.UserOverride, zone?: string, none: Value}} props */
export function OverrideWords({ own, zone, none }) {
  const { exempt, exempt_until: until, timezone, limits = {} } = own;
  const parts = [
    exemptions[exempt] && exemptions[exempt] + (until ? ` until ${clock(Date.parse(until), zone)}` : ""),
    timezone && `time zone ${timezone}`,
    ...Object.entries(limits).map(([name, numbers]) => html`<bdi>${name}</bdi>: ${numbersInWords(numbers)}`),
  ].filter(Boolean);
  if (parts.length === 0) return none;
  return parts.map((part, i) => html`${i > 0 && "; "}${part}`);
}

/** @param {Api.Override} numbers */
function numbersInWords(numbers) {
  return Object.entries(numbers).map(([name, value]) => numberWords[name]?.(value) ?? `${name} ${value}`).join(", ");
}
