// The zones that a field can offer: give it the list "zones".

import { html } from "../vendor/htm-preact.js";

export const Zones = () => html`<datalist id="zones">${Intl.supportedValuesOf("timeZone").map((zone) => html`<option value=${zone} />`)}</datalist>`;
