// @ts-check
// How much of a limit that everyone shares was left in the last 7 days. The data is loaded when a
// person opens this part of the card.

import { t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { follow } from "../core/follow.js";
import { state, update } from "../core/state.js";
import { loadedOf } from "./draft.js";
import { sharedWeekAddress, WeekChart } from "../widgets/week-chart.js";
import { isShared } from "../words/scopes.js";
/** @import { DraftLimit } from "./draft.js" */
/** @import { Form } from "./form.js" */

/** @typedef {{body: Api.getChannelsWeek | null, problem: string}} KnownWeek */

const every = 60_000; // between two requests, ms

// SharedWeek shows the limit as it is in force, not its draft.
/** @param {{limit: DraftLimit, form: Form, channel: string}} props */
export function SharedWeek({ limit, form, channel }) {
  const loaded = loadedOf(form.policy, limit);
  if (!loaded || !isShared(loaded)) return null;
  return html`<${Week} key=${`${channel} ${loaded.name}`} limit=${loaded} etag=${form.etag} channel=${channel} />`;
}

/** @param {{limit: Api.Limit, etag: string, channel: string}} props */
function Week({ limit, etag, channel }) {
  const [isOpen, setOpen] = useState(false);
  const address = sharedWeekAddress(channel, limit.name);
  useEffect(() => (isOpen ? follow(address, every, (news) => keep(address, news)) : undefined), [address, etag, isOpen]);
  const { body = null, problem = "" } = state.weeks[address] ?? {};
  return html`
    <details class="kind rare week" onToggle=${(event) => setOpen(event.target.open)}>
      <summary>${t("limits.week")}</summary>
      ${isOpen && html`<${WeekChart} body=${body} problem=${problem} isShared=${true} isByRole=${Object.keys(limit.roles ?? {}).length > 0} />`}
    </details>
  `;
}

// keep stores an answer. If it is a problem, the last data stays.
/** @param {string} address @param {KnownWeek} news */
function keep(address, { body, problem }) {
  update((s) => (s.weeks = { ...s.weeks, [address]: { body: body ?? s.weeks[address]?.body ?? null, problem } }));
}
