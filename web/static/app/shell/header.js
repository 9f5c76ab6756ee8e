// @ts-check
// The header of every page: pages, channel, and the state of chatguard.

import { html } from "../../vendor/htm-preact.js";
import { fragment, linkTo, pages } from "../core/route.js";
import { signOut } from "../core/session.js";
import { retryNow } from "./live.js";
import { clock } from "../words/time.js";
/** @import { View } from "../../vendor/htm-preact.js" */

/** @param {{state: import("../core/state.js").State}} props */
export function Header({ state }) {
  return html`
    <header>
      <div class="bar-row">
        <span class="brand">chatguard</span>
        <nav aria-label="Pages">
          ${Object.entries(pages).map(([page, name]) => html`
            <a href=${linkTo(state, page)} aria-current=${page === state.route ? "page" : null}>${name}</a>
          `)}
        </nav>
        <${ChannelPicker} state=${state} />
        <${Me} me=${state.me} />
        ${!state.me.mounted && html`<button class="quiet" onClick=${signOut}>Sign out</button>`}
      </div>
      <ul class="states ${state.feed.state === "lost" ? "stale" : ""}" aria-label="State">
        <${Mode} policy=${state.policy} />
        ${(state.status?.connections ?? []).map((c) => html`<${Connection} key=${c.name + c.state} connection=${c} />`)}
        <${Database} database=${state.status?.database} route=${state.route} />
      </ul>
      ${state.problem && html`<p class="error" role="alert">${state.problem}</p>`}
      <${Lost} feed=${state.feed} />
    </header>
  `;
}

/** @param {{state: import("../core/state.js").State}} props */
function ChannelPicker({ state: { channels, channel, route } }) {
  if (channels.length === 0) return html`<span class="channel muted">no channel</span>`;
  if (channels.length === 1) return html`<span class="channel">#<bdi>${channels[0].login}</bdi></span>`;
  /** @param {{target: HTMLSelectElement}} event */
  const pick = (event) => (location.hash = fragment(route, event.target.value));
  return html`
    <label class="channel"><span class="unseen">Channel</span>
      <select value=${channel} onChange=${pick}>
        ${channels.map(({ id, login }) => html`<option value=${id} selected=${id === channel}>#${login}</option>`)}
      </select>
    </label>
  `;
}

/** @type {Record<string, string>} */
const accesses = { view: "view only", moderate: "moderator", own: "owner" };

// Me shows who is signed in.
/** @param {{me: import("../core/state.js").State["me"]}} props */
function Me({ me: { name, access } }) {
  const role = accesses[access] ?? access;
  return html`<span class="me"><bdi>${name}</bdi>${role !== name && html`<span class="muted"> · ${role}</span>`}</span>`;
}

// State is a word with a coloured dot. kind is "good", "notice", "warn", "bad" or "off". Commands
// in detail are in `backticks`.
/** @param {{kind: string, children?: View, detail?: string}} props */
function State({ kind, children, detail }) {
  const parts = (detail ?? "").split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
  return html`<li class="state ${kind}">${children}${detail && html` <span class="detail">${parts}</span>`}</li>`;
}

// Mode shows the mode in force: an enforcing policy only observes while its channel is paused.
/** @param {{policy: import("../core/state.js").State["policy"]}} props */
function Mode({ policy }) {
  if (!policy) return null;
  if (policy.in_force === "enforce") return html`<${State} kind="good">Enforcing<//>`;
  return html`<${State} kind="notice" detail="nobody is throttled">Observing<//>`;
}

/** @type {Record<string, string>} */
const connectionKinds = {
  connected: "good", connecting: "warn", disconnected: "bad",
  valid: "good", unchecked: "warn", refused: "bad", missing: "bad",
  observing: "notice", paused: "notice", "raid mode": "notice",
  "not asked yet": "off", ok: "good", low: "warn", failing: "bad", "limits as configured": "warn",
};

/** @param {{connection: import("../core/state.js").Connection}} props */
function Connection({ connection: { name, state, detail } }) {
  return html`<${State} kind=${connectionKinds[state] ?? "off"} detail=${detail}>${name} ${state}<//>`;
}

// Database shows the state of the database. On the page Now, it leaves out the details of a failing
// or missing database, because that page has a note for them.
/** @param {{database?: import("../core/state.js").Database, route: string}} props */
function Database({ database, route }) {
  if (!database) return null;
  /** @param {string} text */
  const detail = (text) => (route === "now" ? "" : text);
  switch (database.state) {
    case "ok":
      return html`<${State} kind="good" detail=${database.detail}>Database ok<//>`;
    case "off":
      return html`<${State} kind="off" detail=${detail("nothing is saved")}>No database<//>`;
  }
  return html`<${State} kind="bad" detail=${detail(database.detail)}>Database failing<//>`;
}

// Lost says that the data shown is old.
/** @param {{feed: import("../core/state.js").State["feed"]}} props */
function Lost({ feed }) {
  if (feed.state !== "lost") return null;
  return html`
    <div class="lost" role="alert">
      <p>
        <strong>${feed.why ? "No live updates." : "Connection lost."}</strong> ${feed.why && `${feed.why}.`}
        ${feed.lastFrame > 0 && ` Showing data from ${clock(feed.lastFrame)}.`} Reconnecting…
      </p>
      <button onClick=${retryNow}>Retry now</button>
    </div>
  `;
}
