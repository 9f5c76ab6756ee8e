// Who is throttled now.

import { html } from "../vendor/htm-preact.js";
import { ChannelSwitches } from "./channel-switches.js";
import { DatabaseNote } from "./database-note.js";
import { heldRow } from "./held-row.js";
import { RatesChart } from "./rates-chart.js";
import { standing } from "./state.js";
import { clock } from "./time.js";
import { UsersTable } from "./users-table.js";

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const rate = (perSecond) => (perSecond < 100 ? tenths : whole).format(perSecond);

export function NowPage({ state }) {
  const { status, feed, policy } = state;
  const { throttled, would } = standing();
  const hasRows = throttled + would > 0 || heldRow();
  const stale = feed.state === "lost" ? "stale" : "";
  return html`
    <h1 class="unseen">Throttled now</h1>
    <${DatabaseNote} database=${status?.database} policy=${policy} />
    <${ChannelSwitches} state=${state} />
    <div class="overview ${stale}">
      <dl class="figures">
        <${Figure} name="users throttled now" value=${status && whole.format(throttled)} />
        ${would > 0 && html`<${Figure} name="only observed" value=${whole.format(would)} />`}
        <${Figure} name="messages a second" value=${status && rate(status.messages_per_second)} />
        <${Throttled} status=${status} policy=${policy} />
      </dl>
      <${RatesChart} state=${state} />
    </div>
    ${hasRows && html`<${UsersTable} state=${state} stale=${stale} />`}
    ${!hasRows && status && html`<${Nobody} state=${state} />`}
  `;
}

// Throttled counts what is held back, or while nobody is, what would have been.
function Throttled({ status, policy }) {
  if (!status) return html`<${Figure} name="throttled a second" />`;
  const { throttled_per_second: all, observed_per_second: observed } = status;
  if (policy?.in_force === "observe") return html`<${Figure} name="would be throttled a second" value=${rate(observed)} />`;
  return html`<${Figure} name="throttled a second" value=${rate(all - observed)} />`;
}

function Figure({ name, value }) {
  return html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`;
}

// Nobody is what stands in place of an empty table.
function Nobody({ state: { status, feed } }) {
  if (feed.state === "lost") return html`<div class="nobody"><p class="headline">Not known since ${clock(feed.lastFrame)}.</p></div>`;
  const isCutOff = status.connections.some((c) => c.name === "Twitch" && (c.state === "connecting" || c.state === "disconnected"));
  return html`
    <div class="nobody">
      <p class="headline">Nobody is throttled.</p>
      <p>${lastMinute(status)}</p>
      ${isCutOff && html`<p class="warn-text">chatguard isn’t connected to the chat, so it sees no messages.</p>`}
    </div>
  `;
}

function lastMinute({ messages_last_minute: all, throttled_last_minute: throttled, observed_last_minute: observed }) {
  if (all === 0) return "No messages in the last minute.";
  const fine = all - throttled, held = throttled - observed;
  const parts = [fine === 1 ? "1 message in the last minute was fine" : `${whole.format(fine)} messages in the last minute were fine`];
  if (held > 0) parts.push(`${whole.format(held)} ${held === 1 ? "was" : "were"} throttled`);
  if (observed > 0) parts.push(`${whole.format(observed)} would have been throttled`);
  return parts.join(", ") + ".";
}
