// @ts-check
// From a limit to the Lab: the limit in force and, if it differs, its draft, under the channel's
// busiest ten minutes.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { labPage } from "../core/route.js";
import { limitOf, loadedOf } from "./draft.js";
import { isClear } from "./rule.js";
import { Icon } from "../widgets/icon.js";
import { algorithmOf } from "../words/algorithms.js";
import { limitText } from "../words/limit-text.js";
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

// labAddress returns the address of the Lab for a limit; empty if there is nothing to show. It is
// relative, because the dashboard can be served under any path.
/** @param {DraftLimit} limit @param {number} index @param {Form} form @param {string} channel */
export function labAddress(limit, index, form, channel) {
  const loaded = loadedOf(form.policy, limit);
  const zone = form.draft.timezone.trim();
  const texts = [loaded, isClear(limit, index, form) && limitOf(limit)].filter(Boolean).map((shown) => limitText(inZone(shown, zone)));
  const lanes = [...new Set(texts)].join(";");
  return lanes && `${labPage}#lanes=${lanes}&traffic=recorded,channel=${encodeURIComponent(channel)},for=10m`;
}

// inZone states the channel's time zone in a daily limit, because the Lab doesn't know it.
/** @param {Api.Limit} limit @param {string} zone @returns {Api.Limit} */
const inZone = (limit, zone) => (algorithmOf(limit).hasDay && zone ? { ...limit, timezone: limit.timezone || zone } : limit);

// LabLink opens the Lab in a new tab, because leaving the page would lose the draft.
/** @param {{limit: DraftLimit, index: number, form: Form, channel: string}} props */
export function LabLink({ limit, index, form, channel }) {
  const address = labAddress(limit, index, form, channel);
  return address && html`<a class="try" id=${`try-${index}`} href=${address} target="_blank" rel="noopener"><${Icon} name="flask" />${t("limits.try")}</a>`;
}
