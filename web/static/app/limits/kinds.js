// @ts-check
// The kinds of limits: each as a rule in words, with the name of its algorithm behind it. A limit's
// own choice states its rule with the limit's numbers, a new limit's with the initial ones.

import { t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { withAlgorithm } from "./algorithm.js";
import { setKind } from "./draft-edits.js";
import { fieldsIn, loadedOf } from "./draft.js";
import { ruleIn } from "./rule.js";
import { algorithmNames, algorithmOf, scopesOf } from "../words/algorithms.js";
import { ruleOf } from "../words/rules.js";
import { numbersIn, wrongNumber } from "../words/typed.js";
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

// newKinds returns the algorithms, each with the rule of a new limit.
/** @param {string} zone */
export const newKinds = (zone) => algorithmNames().map((algorithm) => ({ algorithm, rule: ruleOf({ name: algorithm, algorithm, ...algorithmOf({ algorithm }).start }, zone) }));

// KindWords says what a kind of limits does.
/** @param {{algorithm: string, rule: string}} props */
export function KindWords({ algorithm, rule }) {
  const { name, about } = algorithmOf({ algorithm });
  return html`<strong>${rule}</strong> <span class="muted">${name}</span><span class="about muted">${about}</span>`;
}

// KindChoice chooses the algorithm of a limit. All kinds have the numbers that the limit had before
// the first choice, so that looking at several of them loses nothing.
/** @param {{limit: DraftLimit, index: number, form: Form}} props */
export function KindChoice({ limit, index, form }) {
  const [first, setFirst] = useState(limit);
  const loaded = loadedOf(form.policy, limit), present = limit.source.algorithm;
  const base = isSame(as(first, loaded, present), limit) ? first : limit;
  /** @param {DraftLimit} kind */
  const choose = (kind) => {
    setFirst(base);
    setKind(index, kind);
  };
  return html`
    <div class="kinds" role="radiogroup" aria-label=${t("limits.kinds")}>
      ${algorithmNames().filter((algorithm) => algorithm === present || scopesOf({ algorithm }).includes(limit.per)).map((algorithm) => {
        const kind = as(base, loaded, algorithm);
        return html`
          <label key=${algorithm}>
            <input type="radio" name=${`algorithm-${index}`} value=${algorithm} checked=${algorithm === present} onChange=${() => choose(kind)} />
            <span><${KindWords} algorithm=${algorithm} rule=${ruleWith(kind, limit, form)} /></span>
          </label>`;
      })}
    </div>
  `;
}

// as returns a limit with an algorithm.
/** @param {DraftLimit} limit @param {Api.Limit | undefined} loaded @param {string} algorithm */
const as = (limit, loaded, algorithm) => (limit.source.algorithm === algorithm ? limit : withAlgorithm(limit, loaded, algorithm));

/** @param {DraftLimit} a @param {DraftLimit} b */
const isSame = (a, b) => JSON.stringify([a.source, a.texts, a.roles]) === JSON.stringify([b.source, b.texts, b.roles]);

// ruleWith writes the rule of a kind, or the rule of a new limit if a number can't be read.
/** @param {DraftLimit} kind @param {DraftLimit} limit @param {Form} form */
function ruleWith(kind, limit, form) {
  const { source, texts } = kind, shown = { ...limit, source }, fields = fieldsIn(shown);
  if (Object.entries(fields).some(([name, field]) => wrongNumber(field, texts[name]))) return ruleOf({ ...source, ...algorithmOf(source).start, per: /** @type {Api.Limit["per"]} */ (limit.per) }, form.draft.timezone.trim());
  return ruleIn(shown, numbersIn(fields, texts), form);
}
