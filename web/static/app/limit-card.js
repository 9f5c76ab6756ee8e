// One limit in words and numbers. One that counts in all channels can only be read.

import { html } from "../vendor/htm-preact.js";
import { algorithmOf, amount } from "./algorithms.js";
import { LimitField } from "./limit-field.js";
import { isFixed, setField } from "./policy.js";
import { length, seconds } from "./time.js";

const sharers = { "user-everywhere": "each user, in all channels together", channel: "everyone in the channel together" };

export function LimitCard({ limit, index, form }) {
  const { name, fields, meaning } = algorithmOf(limit);
  const draft = form.draft.limits[index];
  const errors = Object.fromEntries(Object.keys(fields).map((field) => [field, form.errors[`${index}.${field}`]]));
  const numbers = Object.fromEntries(Object.keys(fields).map((field) => [field, errors[field] ? NaN : Number(draft[field])]));
  return html`
    <fieldset class=${isFixed(limit) ? "fixed" : ""}>
      <legend><bdi>${limit.name}</bdi> <span class="kind">${name}, for ${sharers[limit.per] ?? "each user"}</span></legend>
      ${limit.mode === "observe" && html`<p class="state notice">Only observes: it tells whom it would throttle, and throttles nobody.</p>`}
      <div class="fields">
        ${Object.entries(fields).map(([field, { label, unit, isLength }]) => html`
          <${LimitField} key=${field} id=${`${field}-${index}`} label=${label} unit=${unit + (isLength ? inWords(numbers[field]) : "")}
            value=${draft[field]} fixed=${form.busy || isFixed(limit)} error=${errors[field]}
            onInput=${(text) => setField(index, field, text)} />
        `)}
      </div>
      ${!Object.values(numbers).some(Number.isNaN) && html`<p class="muted">${meaning(numbers, limit, form.policy.timezone)}</p>`}
      <${Notes} limit=${limit} />
    </fieldset>
  `;
}

// inWords is what stands behind a number of seconds that nobody reads at a glance.
function inWords(time) {
  return time >= 60 ? ` = ${length(time)}` : "";
}

function Notes({ limit }) {
  const notes = [
    limit.count_throttled && "Messages that are throttled count too.",
    limit.per === "channel" && "Whoever finds it used up gets no strike; only the message goes.",
    roleNote(limit.roles),
    isFixed(limit) && "It counts in all channels, so it can’t be changed in one of them: change it in the configuration file.",
  ];
  return notes.filter(Boolean).map((note) => html`<p class="muted">${note}</p>`);
}

const others = {
  burst: (number) => `${amount(number)} at once`,
  refill: (text) => `one more every ${length(seconds(text))}`,
  queue: (number) => `${amount(number)} may wait`,
  messages: (number) => `${amount(number)} messages`,
};

function roleNote(roles) {
  const notes = Object.entries(roles ?? {}).map(([role, own]) => {
    const numbers = Object.entries(own).map(([name, value]) => others[name]?.(value) ?? `${name} ${value}`);
    return `${role.replaceAll("_", " ")}: ${numbers.join(", ") || "as everyone"}`;
  });
  return notes.length > 0 && `Other numbers for ${notes.join("; ")}.`;
}
