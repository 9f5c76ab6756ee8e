// @ts-check
// The head of a page on which nobody is signed in yet.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { LanguageChoice } from "./language-choice.js";

/** @param {{title: string}} props */
export const Masthead = ({ title }) => html`
  <div class="masthead"><img src="favicon.svg" alt="" width="40" height="40" /><${LanguageChoice} label=${t("shell.language")} /></div>
  <h1 class="title">${title}</h1>
`;
