// @ts-check
// The name, algorithm and scope of a limit. Usage is counted by them, so it starts again when one
// of them changes.

import { html, useState } from "../../vendor/htm-preact.js";
import { setAlgorithm, setField } from "./draft-edits.js";
import { loadedOf } from "./draft.js";
import { LimitField } from "../widgets/field.js";
import { algorithmNames, algorithmOf, amount } from "../words/algorithms.js";
import { sharers } from "../words/scopes.js";
/** @import { State } from "../core/state.js" */
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

/** @param {{limit: DraftLimit, index: number, form: Form, overrides: State["overrides"]}} props */
export function Kind({ limit, index, form, overrides }) {
  const id = `name-${index}`;
  const error = form.errors[id];
  const { algorithm } = limit.source;
  const [isOpen, setOpen] = useState(limit.isOpen);
  return html`
    <details class="kind" open=${isOpen || Boolean(error)} onToggle=${(event) => setOpen(event.target.open)}>
      <summary>Name, algorithm and scope</summary>
      <div class="fields">
        <${LimitField} id=${id} label="Name" value=${limit.name} error=${error} isText onInput=${(text) => setField(index, "name", text)} />
        <${Choice} id=${`algorithm-${index}`} label="Algorithm" value=${algorithm} onChoose=${(value) => setAlgorithm(index, value)}
          options=${Object.fromEntries(algorithmNames().map((value) => [value, algorithmOf({ algorithm: value }).name]))} />
        <${Choice} id=${`per-${index}`} label="Scope" value=${limit.per} onChoose=${(value) => setField(index, "per", value)}
          options=${{ user: sharers.user, channel: sharers.channel }} />
      </div>
      <p class="muted">${algorithmOf(limit.source).about}</p>
    </details>
    <${Fresh} limit=${limit} loaded=${loadedOf(form.policy, limit)} overrides=${overrides} />
  `;
}

/**
 * @param {{id: string, label: string, value: string, options: Record<string, string>, onChoose: (value: string) => void}} props
 */
function Choice({ id, label, value, options, onChoose }) {
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <select id=${id} value=${value} onChange=${(event) => onChoose(event.target.value)}>
        ${Object.entries(options).map(([option, name]) => html`<option value=${option} selected=${option === value}>${name}</option>`)}
      </select>
    </div>
  `;
}

// Fresh says what a new name, algorithm or scope costs.
/** @param {{limit: DraftLimit, loaded: Api.Limit | undefined, overrides: State["overrides"]}} props */
function Fresh({ limit, loaded, overrides }) {
  if (!loaded) return null;
  const name = limit.name.trim();
  const isRenamed = name !== loaded.name;
  if (!isRenamed && limit.source.algorithm === loaded.algorithm && limit.per === (loaded.per ?? "user")) return null;
  const custom = (overrides?.users ?? []).filter(({ override }) => override.limits?.[loaded.name]).length;
  return html`
    <p class="starts-over">
      Usage starts again when you save: everyone gets the full allowance of this limit.
      ${isRenamed && html` It was “<bdi>${loaded.name}</bdi>” before.`}
      ${isRenamed && custom > 0 && html` Custom limits of ${custom === 1 ? "1 user" : `${amount(custom)} users`} in “<bdi>${loaded.name}</bdi>” will no longer apply.`}
    </p>
  `;
}
