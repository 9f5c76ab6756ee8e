// @ts-check
// Parts that the experiments have in common.

import { html } from "../../vendor/htm-preact.js";
import { Icon } from "../../app/widgets/icon.js";

/** @param {{label: string, choices: [id: string, name: string][], chosen: string, onChoose: (id: string) => void}} props */
export const Tabs = ({ label, choices, chosen, onChoose }) => html`
  <div class="tabs" role="group" aria-label=${label}>
    ${choices.map(([id, name]) => html`<button type="button" key=${id} id=${`choose-${id}`} aria-pressed=${id === chosen ? "true" : "false"} onClick=${() => onChoose(id)}>${name}</button>`)}
  </div>
`;

// Problem says why there is no answer. It is empty if there is one.
/** @param {{text: string}} props */
export const Problem = ({ text }) => text && html`<p class="banner" role="alert"><${Icon} name="alert" /><span>${text}</span></p>`;
