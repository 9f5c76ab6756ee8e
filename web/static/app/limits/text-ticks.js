// @ts-check
// The switches of a limit on repeated text, as boxes to tick.

import { table } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { Tick } from "../widgets/field.js";

// ticked are the texts of what can be ticked.
/** @type {Readonly<Record<string, string>>} */
export const ticked = table({ similar: "limits.similar", count_emotes: "limits.count-emotes", strikes: "limits.strikes" });
/** @type {Readonly<Record<string, string>>} */
const tickedAbout = table({ similar: "limits.similar-about", count_emotes: "limits.count-emotes-about", strikes: "limits.strikes-about" });

/** @param {{names: string[], values: Record<string, any>, idOf: (name: string) => string, onTick: (name: string, is: boolean) => void}} props names are those that the limit can have */
export const TextTicks = ({ names, values, idOf, onTick }) => names.map((name) => html`
  <${Tick} key=${name} id=${idOf(name)} checked=${Boolean(values[name])} onChange=${(/** @type {boolean} */ is) => onTick(name, is)}>
    ${ticked[name] ?? name} <span class="muted">${tickedAbout[name]}</span>
  <//>`);
