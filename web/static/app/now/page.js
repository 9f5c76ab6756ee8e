// @ts-check
// The page Now: the users who are throttled, and the channel's message rates.

import { commas, locale, number, t, table } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { pages } from "../core/route.js";
import { standing, unreadHere } from "../core/state.js";
import { heldRow } from "./held-row.js";
import { ListBar } from "./list-bar.js";
import { NodesCard } from "./nodes.js";
import { RaidSigns } from "./raid-signs.js";
import { RatesChart } from "./rates-chart.js";
import { SummaryCard } from "./summary.js";
import { ChannelSwitches, SwitchStates } from "./switches.js";
import { UsersTable } from "./table.js";
import { TopCard } from "./top.js";
import { addressOf, arranged, go, inTab, viewOf } from "./view.js";
import { SetupCard } from "../start/card.js";
import { DatabaseNote } from "../widgets/database-note.js";
import { Icon } from "../widgets/icon.js";
import { PageHead } from "../widgets/page-head.js";
import { SharedNote } from "../widgets/shared-note.js";
import { UnreadNote } from "../widgets/unread-note.js";
import { clock } from "../words/time.js";
/** @import { State, Status } from "../core/state.js" */
/** @import { View } from "./view.js" */

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

// as in style/now.css
const phone = matchMedia("(max-width: 979px)");
const roomy = matchMedia("(min-width: 1360px)"); // for cards beside the list

/** @param {number} perSecond */
const rate = (perSecond) => (perSecond < 100 ? tenths : whole).format(perSecond);

/** @param {{state: State}} props */
export function NowPage({ state }) {
  const { status, feed, policy } = state;
  const stale = feed.state === "lost" ? "stale" : "";
  return html`
    <${PageHead} title=${pages.now}><${ChannelSwitches} state=${state} /><//>
    <${SwitchStates} state=${state} />
    <${UnreadNote} state=${state} />
    <${DatabaseNote} database=${status?.database} policy=${policy} />
    <${SharedNote} shared=${status?.shared} />
    <${NodesCard} state=${state} />
    <${SetupCard} state=${state} />
    <div class="now">
      <${RaidSigns} state=${state} />
      ${!phone.matches && html`<${Figures} state=${state} stale=${stale} />`}
      ${phone.matches && html`<${List} state=${state} stale=${stale} />`}
      ${roomy.matches
        ? html`<aside class="beside" aria-label=${t("now.activity")}><${Activity} state=${state} stale=${stale} /></aside>`
        : html`<${Folded} state=${state} stale=${stale} />`}
      ${!phone.matches && html`<${List} state=${state} stale=${stale} />`}
    </div>
  `;
}

// Folded shows the activity where there is no room beside the list, once it is opened. On a phone,
// it also has the figures.
/** @param {{state: State, stale: string}} props */
function Folded({ state, stale }) {
  const [isOpen, setOpen] = useState(false);
  /** @param {{target: HTMLDetailsElement, currentTarget: HTMLDetailsElement}} event */
  const toggle = ({ target, currentTarget }) => target === currentTarget && setOpen(target.open);
  return html`
    <details class="folded" onToggle=${toggle}>
      <summary><${Icon} name="chevron-right" />${phone.matches ? t("now.folded-figures") : t("now.folded")}</summary>
      ${isOpen && phone.matches && html`<${Figures} state=${state} stale=${stale} />`}
      ${isOpen && html`<${Activity} state=${state} stale=${stale} />`}
    </details>
  `;
}

/** @param {{state: State, stale: string}} props */
function Activity({ state, stale }) {
  return html`
    <div class="card ${stale}"><${RatesChart} state=${state} /></div>
    <${SummaryCard} state=${state} />
    <${TopCard} state=${state} />
  `;
}

// Figures shows the one that comes and goes last, so that the others stay in place.
/** @param {{state: State, stale: string}} props */
function Figures({ state: { status, policy }, stale }) {
  const { throttled, would } = standing();
  return html`
    <dl class="figures ${stale}">
      <${Figure} name=${t("now.figure-users")} value=${status && number.format(throttled)} />
      <${Figure} name=${t("now.figure-messages")} value=${status && rate(status.messages_per_second)} />
      <${Throttled} status=${status} policy=${policy} />
      ${(would > 0 || policy?.in_force === "observe") && html`<${Figure} name=${t("now.figure-observed")} value=${number.format(would)} />`}
    </dl>
  `;
}

// Throttled shows the throttled messages per second. While the policy observes, it shows the
// messages that would have been throttled.
/** @param {{status: State["status"], policy: State["policy"]}} props */
function Throttled({ status, policy }) {
  if (!status) return html`<${Figure} name=${t("now.figure-throttled")} />`;
  const { throttled_per_second: all, observed_per_second: observed } = status;
  if (policy?.in_force === "observe") return html`<${Figure} name=${t("now.figure-would")} value=${rate(observed)} />`;
  return html`<${Figure} name=${t("now.figure-throttled")} value=${rate(all - observed)} />`;
}

/** @param {{name: string, value?: string | null}} props */
function Figure({ name, value }) {
  return html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`;
}

/** @param {{state: State, stale: string}} props */
function List({ state, stale }) {
  const view = viewOf(state.query);
  const users = { held: inTab(state.users, "held"), silenced: inTab(state.users, "silenced"), recent: inTab(state.users, "recent") };
  const all = users[view.tab];
  const shown = arranged(all, view);
  const isEmpty = shown.length === 0 && !heldRow();
  if (!state.status) return null;
  return html`
    <section class="list" aria-label=${t("now.users")}>
      <${ListBar} state=${state} view=${view} users=${users} />
      ${!isEmpty && html`<${UsersTable} state=${state} users=${shown} tab=${view.tab} stale=${stale} />`}
      ${isEmpty && (all.length > 0 ? html`<${NoMatch} />` : html`<${Nobody} state=${state} view=${view} recent=${users.recent.length} />`)}
    </section>
  `;
}

// NoMatch replaces a table whose rows are all filtered out.
function NoMatch() {
  return html`
    <div class="nobody">
      <p class="headline">${t("now.no-match")}</p>
      <button type="button" onClick=${() => go({ show: "all", limit: "" })}>${t("now.show-all")}</button>
    </div>
  `;
}

const nobody = table({ held: "shell.nobody-throttled", silenced: "now.nobody-silenced", recent: "now.nobody-recent" });

// Nobody replaces an empty table.
/** @param {{state: State, view: View, recent: number}} props */
function Nobody({ state, view, recent }) {
  const { status, feed } = state;
  if (feed.state === "lost") return html`<div class="nobody"><p class="headline">${t("now.no-data", { time: clock(feed.lastFrame) })}</p></div>`;
  return html`
    <div class="nobody">
      <p class="headline">${nobody[view.tab]}</p>
      <p>${lastMinute(status)}</p>
      ${view.tab === "held" && recent > 0 && html`<p><a href=${addressOf(state, view, { tab: "recent" })}>${t("now.recent", { n: recent })}</a></p>`}
      ${unreadHere() && html`<p class="warn-text">${t("now.cut-off")}</p>`}
    </div>
  `;
}

/** @param {Status} of */
function lastMinute({ messages_last_minute: all, throttled_last_minute: throttled, observed_last_minute: observed }) {
  if (all === 0) return t("now.minute-none");
  const held = throttled - observed;
  const what = commas([
    t("now.minute-fine", { n: all - throttled }),
    held > 0 && t("now.minute-throttled", { n: held }),
    observed > 0 && t("now.minute-would", { n: observed }),
  ]);
  return t("shell.sentence", { what });
}
