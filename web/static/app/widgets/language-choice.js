// @ts-check
// The choice of the page's language.

import { chooseLanguage, language, languages } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";

// LanguageChoice names each language in that language. label is for screen readers, if there is no
// other one.
/** @param {{label?: string}} props */
export const LanguageChoice = ({ label }) => html`
  <select id="language" class="quiet" aria-label=${label ?? null} value=${language} onChange=${(event) => chooseLanguage(event.target.value)}>
    ${Object.entries(languages).map(([tag, name]) => html`<option value=${tag} lang=${tag} selected=${tag === language}>${name}</option>`)}
  </select>
`;
