// One limit in words and numbers. One that counts in all channels can only be read.

import { html } from "../vendor/htm-preact.js";
import { algorithmOf } from "./algorithms.js";
import { isFixed } from "./draft.js";
import { keepLimit, removeLimit, setField, setText } from "./edits.js";
import { LimitField, Tick } from "./limit-field.js";
import { LimitOverrides } from "./limit-overrides.js";
import { LimitRoles } from "./limit-roles.js";
import { configured } from "./state.js";
import { length } from "./time.js";

const sharers = { user: "each user", "user-everywhere": "each user, in all channels together", channel: "everyone in the channel together" };

// LimitCard shows the draft of a limit. mayEdit is false where nothing can be changed at present.
export function LimitCard({ limit, index, form, mayEdit, overrides }) {
  if (limit.isRemoved) return html`<${Removed} limit=${limit} index=${index} />`;
  const fixed = !mayEdit || isFixed(limit.source);
  const { name } = algorithmOf(limit.source);
  return html`
    <fieldset class="limit ${fixed ? "fixed" : ""}">
      <legend><bdi>${limit.name || "A new limit"}</bdi> <span class="kind">${name}, for ${sharers[limit.per]}</span></legend>
      ${!fixed && html`
        <button type="button" class="quiet remove" id=${`remove-${index}`} aria-label=${`Remove the limit ${limit.name}`} onClick=${() => removeLimit(index)}>
          Remove
        </button>`}
      ${limit.isNew && html`<${NewLimit} limit=${limit} index=${index} form=${form} fixed=${fixed} />`}
      <${Numbers} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      ${!fixed && html`<${Choices} limit=${limit} index=${index} />`}
      <${Notes} limit=${limit} fixed=${fixed} />
      <${LimitRoles} limit=${limit} index=${index} form=${form} fixed=${fixed} />
      <${LimitOverrides} name=${limit.source.name} fields=${algorithmOf(limit.source).fields} overrides=${overrides} />
    </fieldset>
  `;
}

function Removed({ limit, index }) {
  return html`
    <div class="limit removed">
      <p><bdi>${limit.name}</bdi> goes when you save. What everyone has used of it is forgotten then.</p>
      <button type="button" id=${`keep-${index}`} onClick=${() => keepLimit(index)}>Keep it</button>
    </div>
  `;
}

function NewLimit({ limit, index, form, fixed }) {
  const id = `name-${index}`;
  return html`
    <p class="muted">${algorithmOf(limit.source).about}</p>
    <div class="fields">
      <${LimitField} id=${id} label="Name" value=${limit.name} fixed=${fixed} error=${form.errors[id]} isText onInput=${(text) => setField(index, "name", text)} />
      <div class="field">
        <label for=${`per-${index}`}>Counts for</label>
        <select id=${`per-${index}`} value=${limit.per} onChange=${(event) => setField(index, "per", event.target.value)}>
          ${["user", "channel"].map((per) => html`<option value=${per} selected=${per === limit.per}>${sharers[per]}</option>`)}
        </select>
      </div>
    </div>
  `;
}

function Numbers({ limit, index, form, fixed }) {
  const { source, texts } = limit;
  const { fields, meaning } = algorithmOf(source);
  const error = (field) => form.errors[`${field}-${index}`];
  const numbers = Object.fromEntries(Object.keys(fields).map((field) => [field, error(field) ? NaN : Number(texts[field])]));
  const isDaily = source.algorithm === "daily-window";
  const stated = { ...source, reset_at: limit.resetAt.trim(), timezone: limit.timezone.trim() };
  const isClear = !Object.values(numbers).some(Number.isNaN) && !error("reset_at") && !error("timezone");
  return html`
    <div class="fields">
      ${Object.entries(fields).map(([field, { label, unit, isLength }]) => html`
        <${LimitField} key=${field} id=${`${field}-${index}`} label=${label} unit=${unit + (isLength ? inWords(numbers[field]) : "")}
          value=${texts[field]} fixed=${fixed} error=${error(field)} onInput=${(text) => setText(index, field, text)} />
      `)}
      ${isDaily && html`
        <${LimitField} id=${`reset_at-${index}`} label="The day ends at" value=${limit.resetAt} fixed=${fixed} error=${error("reset_at")} hint="00:00" isText
          onInput=${(text) => setField(index, "resetAt", text)} />
        <${LimitField} id=${`timezone-${index}`} label="Zone of the day" value=${limit.timezone} fixed=${fixed} error=${error("timezone")}
          hint=${form.draft.timezone || "UTC"} isText list="zones" onInput=${(text) => setField(index, "timezone", text)} />
      `}
    </div>
    ${isClear && html`<p class="muted">${meaning(numbers, stated, form.draft.timezone)}</p>`}
  `;
}

// inWords is what stands behind a number of seconds that nobody reads at a glance.
export function inWords(time) {
  return time >= 60 ? ` = ${length(time)}` : "";
}

function Choices({ limit, index }) {
  return html`
    <div class="choices">
      <${Tick} id=${`observes-${index}`} checked=${limit.observes} onChange=${(is) => setField(index, "observes", is)}>
        Only observe: tell whom it would throttle, and throttle nobody
      <//>
      <${Tick} id=${`counts-${index}`} checked=${limit.countsThrottled} onChange=${(is) => setField(index, "countsThrottled", is)}>
        Count messages that are throttled, too
      <//>
    </div>
  `;
}

// Notes say what no field does.
function Notes({ limit, fixed }) {
  const notes = [
    fixed && limit.observes && "It only observes: it tells whom it would throttle, and throttles nobody.",
    fixed && limit.countsThrottled && "Messages that are throttled count too.",
    limit.per === "channel" && "Whoever finds it used up gets no strike; only the message goes.",
    isFixed(limit.source) && `It counts in all channels, so it can’t be changed in one of them: change it in the ${configured().name}.`,
  ];
  return notes.filter(Boolean).map((note) => html`<p class="muted">${note}</p>`);
}
