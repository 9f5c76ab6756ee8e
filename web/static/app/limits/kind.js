// @ts-check
// The kind, name and scope of a limit, folded away at first. Usage is counted by them, so it starts
// again when one of them changes.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { setField } from "./draft-edits.js";
import { loadedOf } from "./draft.js";
import { unfold } from "./form.js";
import { KindChoice } from "./kinds.js";
import { Choice, LimitField } from "../widgets/field.js";
import { Icon } from "../widgets/icon.js";
import { scopesOf } from "../words/algorithms.js";
import { sharers } from "../words/scopes.js";
/** @import { State } from "../core/state.js" */
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form, Part } from "./form.js" */

/** @param {{limit: DraftLimit, index: number, form: Form, overrides: State["overrides"]}} props */
export function Kind({ limit, index, form, overrides }) {
  const isOpen = /** @param {Part} part */ (part) => Boolean(form.open[limit.id]?.includes(part));
  const { [`name-${index}`]: error, [`title-${index}`]: wrongTitle } = form.errors;
  const named = isOpen("name") || Boolean(error || wrongTitle);
  return html`
    <div class="parts">
      <${Unfold} limit=${limit} index=${index} part="kind" isOpen=${isOpen("kind")} label=${t("limits.kind")} />
      <${Unfold} limit=${limit} index=${index} part="name" isOpen=${named} label=${t("limits.name-scope")} />
    </div>
    <div class="kind" id=${`kind-of-${index}`} hidden=${!isOpen("kind")}>${isOpen("kind") && html`<${KindChoice} limit=${limit} index=${index} form=${form} />`}</div>
    <div class="kind fields" id=${`name-of-${index}`} hidden=${!named}>
      <${LimitField} id=${`name-${index}`} label=${t("limits.name")} value=${limit.name} error=${error} isText fixed=${form.busy} onInput=${(text) => setField(index, "name", text)} />
      <${LimitField} id=${`title-${index}`} label=${t("limits.title-field")} value=${limit.title} error=${wrongTitle} hint=${limit.name} isText fixed=${form.busy} onInput=${(text) => setField(index, "title", text)} />
      <${Choice} id=${`per-${index}`} label=${t("limits.scope")} value=${limit.per} onChoose=${(value) => setField(index, "per", value)}
        options=${Object.fromEntries(scopesOf(limit.source).map((per) => [per, sharers[per]]))} />
    </div>
    <${Fresh} limit=${limit} loaded=${loadedOf(form.policy, limit)} overrides=${overrides} />
  `;
}

/** @param {{limit: DraftLimit, index: number, part: Part, isOpen: boolean, label: string}} props */
function Unfold({ limit, index, part, isOpen, label }) {
  return html`
    <button type="button" id=${`unfold-${part}-${index}`} aria-expanded=${isOpen ? "true" : "false"} aria-controls=${`${part}-of-${index}`} onClick=${() => unfold(limit.id, part, !isOpen)}>
      ${label}<${Icon} name="chevron-down" />
    </button>
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
