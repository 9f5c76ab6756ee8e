// @ts-check
// The name, algorithm and scope of a limit. Usage is counted by them, so it starts again when one
// of them changes.

import { rich, t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { setAlgorithm, setField } from "./draft-edits.js";
import { loadedOf } from "./draft.js";
import { Choice, LimitField } from "../widgets/field.js";
import { algorithmNames, algorithmOf } from "../words/algorithms.js";
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
      <summary>${t("limits.kind")}</summary>
      <div class="fields">
        <${LimitField} id=${id} label=${t("limits.name")} value=${limit.name} error=${error} isText onInput=${(text) => setField(index, "name", text)} />
        <${Choice} id=${`algorithm-${index}`} label=${t("limits.algorithm")} value=${algorithm} onChoose=${(value) => setAlgorithm(index, value)}
          options=${Object.fromEntries(algorithmNames().map((value) => [value, algorithmOf({ algorithm: value }).name]))} />
        <${Choice} id=${`per-${index}`} label=${t("limits.scope")} value=${limit.per} onChoose=${(value) => setField(index, "per", value)}
          options=${{ user: sharers.user, channel: sharers.channel }} />
      </div>
      <p class="muted">${algorithmOf(limit.source).about}</p>
    </details>
    <${Fresh} limit=${limit} loaded=${loadedOf(form.policy, limit)} overrides=${overrides} />
  `;
}

// Fresh says what a new name, algorithm or scope resets.
/** @param {{limit: DraftLimit, loaded: Api.Limit | undefined, overrides: State["overrides"]}} props */
function Fresh({ limit, loaded, overrides }) {
  if (!loaded) return null;
  const name = limit.name.trim();
  const isRenamed = name !== loaded.name;
  if (!isRenamed && limit.source.algorithm === loaded.algorithm && limit.per === (loaded.per ?? "user")) return null;
  const custom = overrides?.by_limit[loaded.name] ?? 0;
  const before = html`<bdi>${loaded.name}</bdi>`;
  return html`
    <p class="starts-over">
      ${t("limits.starts-over")}
      ${isRenamed && [" ", rich("limits.renamed", { limit: before })]}
      ${isRenamed && custom > 0 && [" ", rich("limits.renamed-custom", { limit: before, n: custom })]}
    </p>
  `;
}
