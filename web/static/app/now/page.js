// @ts-check
// The page Now: the users who are throttled at the moment, and the channel's message rates.

import { html } from "../../vendor/htm-preact.js";
import { standing } from "../core/state.js";
import { heldRow } from "./held-row.js";
import { RatesChart } from "./rates-chart.js";
import { SummaryCard } from "./summary.js";
import { ChannelSwitches, SwitchStates } from "./switches.js";
import { UsersTable } from "./table.js";
import { TopCard } from "./top.js";
import { SetupCard } from "../start/card.js";
import { DatabaseNote } from "../widgets/database-note.js";
import { PageHead } from "../widgets/page-head.js";
import { clock } from "../words/time.js";
/** @import { State, Status } from "../core/state.js" */

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** @param {number} perSecond */
const rate = (perSecond) => (perSecond < 100 ? tenths : whole).format(perSecond);

/** @param {{state: State}} props */
export function NowPage({ state }) {
  const { status, feed, policy } = state;
  const { throttled, would } = standing();
  const hasRows = throttled + would > 0 || heldRow();
  const stale = feed.state === "lost" ? "stale" : "";
  return html`
    <${PageHead} title="Now"><${ChannelSwitches} state=${state} /><//>
    <${SwitchStates} state=${state} />
    <${DatabaseNote} database=${status?.database} policy=${policy} />
    <${SetupCard} state=${state} />
    <div class="overview ${stale}">
      <dl class="figures">
        <${Figure} name="users throttled now" value=${status && whole.format(throttled)} />
        ${would > 0 && html`<${Figure} name="observed only" value=${whole.format(would)} />`}
        <${Figure} name="messages per second" value=${status && rate(status.messages_per_second)} />
        <${Throttled} status=${status} policy=${policy} />
      </dl>
      <${RatesChart} state=${state} />
    </div>
    ${hasRows && html`<${UsersTable} state=${state} stale=${stale} />`}
    ${!hasRows && status && html`<${Nobody} state=${state} />`}
    <div class="aside"><${SummaryCard} state=${state} /><${TopCard} state=${state} /></div>
  `;
}

// Throttled shows the throttled messages per second. While the policy observes, it shows the
// messages that would have been throttled.
/** @param {{status: State["status"], policy: State["policy"]}} props */
function Throttled({ status, policy }) {
  if (!status) return html`<${Figure} name="throttled per second" />`;
  const { throttled_per_second: all, observed_per_second: observed } = status;
  if (policy?.in_force === "observe") return html`<${Figure} name="would be throttled per second" value=${rate(observed)} />`;
  return html`<${Figure} name="throttled per second" value=${rate(all - observed)} />`;
}

/** @param {{name: string, value?: string | null}} props */
function Figure({ name, value }) {
  return html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`;
}

// Nobody replaces an empty table.
/** @param {{state: State}} props */
function Nobody({ state: { status, feed } }) {
  if (feed.state === "lost") return html`<div class="nobody"><p class="headline">No data since ${clock(feed.lastFrame)}.</p></div>`;
  const isCutOff = status.connections.some((c) => c.name === "Twitch" && (c.state === "connecting" || c.state === "disconnected"));
  return html`
    <div class="nobody">
      <p class="headline">Nobody is throttled.</p>
      <p>${lastMinute(status)}</p>
      ${isCutOff && html`<p class="warn-text">Not connected to chat: chatguard sees no messages.</p>`}
    </div>
  `;
}

/** @param {Status} of */
function lastMinute({ messages_last_minute: all, throttled_last_minute: throttled, observed_last_minute: observed }) {
  if (all === 0) return "No messages in the last minute.";
  const fine = all - throttled, held = throttled - observed;
  const parts = [fine === 1 ? "1 message in the last minute was fine" : `${whole.format(fine)} messages in the last minute were fine`];
  if (held > 0) parts.push(`${whole.format(held)} ${held === 1 ? "was" : "were"} throttled`);
  if (observed > 0) parts.push(`${whole.format(observed)} would have been throttled`);
  return parts.join(", ") + ".";
}
