// @ts-check
// The card of the nodes that share limits. A person opens it from the list of states.

import { locale, rich, sentences, t, table } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { follow } from "../core/follow.js";
import { linkTo } from "../core/route.js";
import { update } from "../core/state.js";
import { annotated } from "../widgets/annotated.js";
import { Icon } from "../widgets/icon.js";
import { withCode } from "../words/code.js";
import { toMinute, wait } from "../words/time.js";
/** @import { State } from "../core/state.js" */

/**
 * KnownNodes is chatguard's last answer. body is null before the first one.
 * @typedef {{body: Api.getNodes | null, problem: string}} KnownNodes
 */
/** @typedef {Api.getNodes["nodes"][number]} Node */

const every = 2000; // between two requests, ms

const short = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 });
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });

// openNodes moves the focus to the card, once the address bar has opened it.
export const openNodes = () => update((s) => (s.focus = "nodes"));

// NodesCard is empty unless the address bar asks for the nodes.
/** @param {{state: State}} props */
export function NodesCard({ state }) {
  return state.query.nodes === "1" ? html`<${Card} state=${state} />` : null;
}

/** @param {{state: State}} props */
function Card({ state }) {
  const { nodes } = state;
  useEffect(() => follow("/nodes", every, ({ body, problem }) => update((s) => (s.nodes = { body: body ?? s.nodes?.body ?? null, problem }))), [state.status?.shared?.up]);
  const hide = () => {
    location.hash = linkTo(state, "now");
    update((s) => (s.focus = "main"));
  };
  return html`
    <section class="card nodes" id="nodes" tabindex="-1" aria-labelledby="nodes-title">
      <div class="card-head">
        <h2 id="nodes-title">${t("shell.nodes")}</h2>
        <button type="button" class="icon-only" aria-label=${t("now.nodes-hide")} title=${t("now.nodes-hide")} onClick=${hide}><${Icon} name="close" /></button>
      </div>
      ${nodes?.problem && html`<p class="error" role="alert">${sentences(nodes.problem, nodes.body && t("shell.earlier"))}</p>`}
      ${nodes?.body && html`<div class=${nodes.problem || state.feed.state === "lost" ? "stale" : ""}><${Shown} body=${nodes.body} isMounted=${state.me.mounted} /></div>`}
      ${!nodes && html`<p class="muted">${t("now.nodes-loading")}</p>`}
    </section>
  `;
}

/** @param {{body: Api.getNodes, isMounted: boolean}} props */
function Shown({ body, isMounted }) {
  if (body.mode === "off") {
    return html`
      <p>${t("now.nodes-alone")}</p>
      <p class="muted">${isMounted ? rich("now.share-by-code", { option: html`<code>Options.Shared</code>` }) : rich("now.share-by-file", { option: html`<code>[shared]</code>` })}</p>
    `;
  }
  return html`
    <p class="muted">${about(body)}</p>
    ${body.up && body.problem && html`<p class="warn">${withCode(body.problem)}</p>`}
    ${body.nodes.length > 0 && html`
      <div class="node-table" role="table" aria-labelledby="nodes-title">
        <div role="row" class="head">${Object.values(columns).map((name) => html`<span role="columnheader">${name}</span>`)}</div>
        ${body.nodes.map((node) => html`<${Row} key=${node.name + node.started} node=${node} mode=${body.mode} />`)}
      </div>`}
    <p class="muted">${figures(body)}</p>
  `;
}

const modes = table({ off: "now.mode-off", exact: "now.mode-exact", synchronised: "now.mode-synchronised", shares: "now.mode-shares" });

// about says what the nodes share, and how long a round trip to the store takes.
/** @param {Api.getNodes} of */
function about({ mode, up, server, round_trip_ns: trip = 0, skew_ns: skew = 0, nodes }) {
  if (mode === "shares") return t("now.nodes-shares");
  if (!up) return t("now.nodes-away");
  const n = nodes.length, time = duration(trip);
  if (n === 0) return sentences(t("now.nodes-none"), t("now.round-trip", { time }));
  if (n === 1) return sentences(server ? t("now.nodes-one-over", { server }) : t("now.nodes-one"), t("now.round-trip", { time }));
  return sentences(sharing(mode, n, server), t("now.round-trip-clocks", { time, difference: duration(skew) }));
}

/** @param {Api.getNodes["mode"]} mode @param {number} n @param {string} [server] */
function sharing(mode, n, server) {
  if (mode === "exact") return server ? t("now.nodes-exact-over", { n, server }) : t("now.nodes-exact", { n });
  return server ? t("now.nodes-synchronised-over", { n, server }) : t("now.nodes-synchronised", { n });
}

const columns = table({
  node: "now.node", version: "now.node-version", since: "now.node-since", clock: "now.node-clock", messages: "now.node-messages", memory: "now.node-memory",
  offline: "now.node-offline", pending: "now.node-pending",
});

/** @param {{node: Node, mode: Api.getNodes["mode"]}} props */
function Row({ node, mode }) {
  const { name, version, address, started, self, offset_ns: offset, error_ns: error, messages_per_second: rate, counts } = node;
  const beside = [address !== name && address, node.mode !== mode && modes[node.mode]].filter(Boolean).join(" · ");
  return html`
    <div role="row" class="line">
      <span role="cell" class="node"><bdi>${name}</bdi>${self && html` <span class="chip">${t("now.this-node")}</span>`}${beside && html`<span class="muted"> ${beside}</span>`}</span>
      <span role="cell">${annotated("unit", "now.node-has-version", { version: version || "–" })}</span>
      <span role="cell">${annotated("unit", "now.node-up-since", { time: started ? html`<time datetime=${started}>${toMinute(Date.parse(started))}</time>` : "–" })}</span>
      <span role="cell">${annotated("unit", "now.node-has-clock", { clock: html`${clock(offset)} <span class="muted error-of-clock">± ${duration(error)}</span>` })}</span>
      <span role="cell" class="number">${annotated("unit", "now.node-has-messages", { rate: t("now.per-second", { rate: tenths.format(rate) }) })}</span>
      <span role="cell" class="number">${annotated("unit", "now.node-from-memory", { n: counts.from_memory })}</span>
      <span role="cell" class="number">${annotated("unit", "now.node-without-store", { n: counts.offline + counts.unreadable })}</span>
      <span role="cell" class="number">${annotated("unit", "now.node-has-pending", { rows: t("now.rows", { n: counts.pending }) })}</span>
    </div>
  `;
}

// clock says how a node's clock differs from the server's. offset is what the node adds to its
// clock, ns.
/** @param {number} offset */
function clock(offset) {
  const difference = duration(Math.abs(offset));
  return offset < 0 ? t("now.clock-ahead", { difference }) : t("now.clock-behind", { difference });
}

/** @param {number} ns */
const duration = (ns) => (ns < 1e9 ? t("now.milliseconds", { ms: short.format(ns / 1e6) }) : wait(ns / 1e6));

const none = { swaps: 0, conflicts: 0, healed: 0, unreadable: 0 };

// figures says what this node has done with the store. Rare events are named only if they happened.
/** @param {Api.getNodes} of */
function figures({ counts, nodes }) {
  const { swaps, conflicts, healed, unreadable } = counts ?? none;
  const overshoot = nodes.find((node) => node.self)?.overshoot;
  return sentences(
    swaps > 0 && t("now.swaps", { n: swaps }),
    swaps > 0 && conflicts > 0 && t("now.conflicts", { n: conflicts }),
    healed > 0 && t("now.healed", { n: healed }),
    unreadable > 0 && t("now.unreadable", { n: unreadable }),
    overshoot != null && t("now.overshoot", { percent: short.format(100 * overshoot) }),
  );
}
