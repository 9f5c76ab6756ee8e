// @ts-check
// A text of which only the values are always visible.

import { rich } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Value } from "../../vendor/htm-preact.js" */

// annotated returns a text whose words have a class, such as "unseen", but not its values.
/** @param {string} className @param {TextKey} key @param {Record<string, Value>} values */
export const annotated = (className, key, values) =>
  rich(key, values).map((piece, i) => (i % 2 === 1 ? piece : piece && html`<span class=${className}>${piece}</span>`));
