// Who is throttled now.

import { html } from "../vendor/htm-preact.js";
import { UsersTable } from "./users-table.js";

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const rate = (perSecond) => (perSecond < 100 ? tenths : whole).format(perSecond);

export function NowPage({ state }) {
  const { status, users, feed } = state;
  const staying = [...users.values()].filter((user) => !user.leaving).length;
  const stale = feed.state === "lost" ? "stale" : "";
  return html`
    <h1 class="unseen">Throttled now</h1>
    <dl class="figures ${stale}">
      <${Figure} name="users throttled now" value=${status && whole.format(staying)} />
      <${Figure} name="messages a second" value=${status && rate(status.messages_per_second)} />
      <${Figure} name="throttled a second" value=${status && rate(status.throttled_per_second)} />
    </dl>
    ${users.size > 0 && html`<${UsersTable} users=${users} stale=${stale} />`}
    ${users.size === 0 && status && html`<${Nobody} state=${state} />`}
  `;
}

function Figure({ name, value }) {
  return html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`;
}

// Nobody is what stands in place of an empty table.
function Nobody({ state: { status, policy } }) {
  const { messages_last_minute: all, throttled_last_minute: throttled, connections } = status;
  const connected = connections.every((c) => c.state === "connected");
  return html`
    <div class="nobody">
      <p class="headline">Nobody is throttled.</p>
      <p>${lastMinute(all, throttled, policy?.mode)}</p>
      ${!connected && html`<p class="warn-text">chatguard isn’t connected to the chat, so it sees no messages.</p>`}
    </div>
  `;
}

function lastMinute(all, throttled, mode) {
  const fine = all - throttled;
  if (all === 0) return "No messages in the last minute.";
  const were = fine === 1 ? "1 message in the last minute was fine" : `${whole.format(fine)} messages in the last minute were fine`;
  if (throttled === 0) return were + ".";
  return `${were}, ${whole.format(throttled)} ${mode === "enforce" ? (throttled === 1 ? "was" : "were") : "would have been"} throttled.`;
}
