// An override in words.

import { html } from "../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { clock, length, seconds } from "./time.js";

const numberWords = {
  burst: (number) => `${amount(number)} at once`,
  refill: (text) => `one more every ${length(seconds(text))}`,
  queue: (number) => `${amount(number)} may wait`,
  messages: (number) => `${amount(number)} messages`,
};

const exemptions = { always: "no limits", never: "judged whatever their role" };

// OverrideWords says what an override gives, or none where that is nothing.
export function OverrideWords({ own, zone, none }) {
  const { exempt, exempt_until: until, timezone, limits = {} } = own;
  const parts = [
    exemptions[exempt] && exemptions[exempt] + (until ? ` until ${clock(Date.parse(until), zone)}` : ""),
    timezone && `their day is that of ${timezone}`,
    ...Object.entries(limits).map(([name, numbers]) => html`<bdi>${name}</bdi>: ${numbersInWords(numbers)}`),
  ].filter(Boolean);
  if (parts.length === 0) return none;
  return parts.map((part, i) => html`${i > 0 && "; "}${part}`);
}

function numbersInWords(numbers) {
  return Object.entries(numbers).map(([name, value]) => numberWords[name]?.(value) ?? `${name} ${value}`).join(", ");
}
