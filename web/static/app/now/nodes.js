// @ts-check
// The card of the nodes that share limits. A person opens it from the list of states.

import { html, useEffect } from "../../vendor/htm-preact.js";
import { follow } from "../core/follow.js";
import { linkTo } from "../core/route.js";
import { configured, update } from "../core/state.js";
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

const whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 2 });
const tenths = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 1, maximumFractionDigits: 1 });

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
        <h2 id="nodes-title">Nodes</h2>
        <button type="button" class="icon-only" aria-label="Hide the nodes" title="Hide the nodes" onClick=${hide}><${Icon} name="close" /></button>
      </div>
      ${nodes?.problem && html`<p class="error" role="alert">${nodes.problem}${nodes.body && " Showing earlier data."}</p>`}
      ${nodes?.body && html`<div class=${nodes.problem || state.feed.state === "lost" ? "stale" : ""}><${Shown} body=${nodes.body} /></div>`}
      ${!nodes && html`<p class="muted">Loading nodes…</p>`}
    </section>
  `;
}

/** @param {{body: Api.getNodes}} props */
function Shown({ body }) {
  if (body.mode === "off") {
    return html`
      <p>This chatguard works alone: its limits count only what it sees itself.</p>
      <p class="muted">To share limits with other nodes, set ${configured().short === "code" ? html`<code>Options.Shared</code> in the server’s code` : html`<code>[shared]</code> in the configuration file`}.</p>
    `;
  }
  return html`
    <p class="muted">${about(body)}</p>
    ${body.up && body.problem && html`<p class="warn">${withCode(body.problem)}</p>`}
    ${body.nodes.length > 0 && html`
      <div class="node-table" role="table" aria-labelledby="nodes-title">
        <div role="row" class="head">${columns.map((name) => html`<span role="columnheader">${name}</span>`)}</div>
        ${body.nodes.map((node) => html`<${Row} key=${node.name + node.started} node=${node} mode=${body.mode} />`)}
      </div>`}
    <p class="muted">${figures(body)}</p>
  `;
}

const modes = { off: "alone", exact: "exact", synchronised: "synchronised", shares: "own part" };

// about says what the nodes share, and how far they are from the store.
/** @param {Api.getNodes} of */
function about({ mode, up, server, round_trip_ms: trip = 0, skew_ms: skew = 0, nodes }) {
  if (mode === "shares") return "Each node has its own part of every limit. Nodes don’t know each other.";
  if (!up) return "Only this node is listed: the shared store is away.";
  const over = server ? ` over ${server}` : "";
  if (nodes.length === 0) return `No node is listed. A round trip takes ${milliseconds(trip)}.`;
  const many = nodes.length === 1 ? `No other node is here yet. Limits are shared${over}.` : `${whole.format(nodes.length)} nodes share ${mode === "exact" ? "one allowance" : "limits and compare regularly"}${over}.`;
  const clocks = nodes.length > 1 ? `; their clocks are at most ${milliseconds(skew)} apart` : "";
  return `${many} A round trip takes ${milliseconds(trip)}${clocks}.`;
}

const columns = ["Node", "Version", "Up since", "Clock", "Messages", "From memory", "Without store", "Owed"];

/** @param {{node: Node, mode: Api.getNodes["mode"]}} props */
function Row({ node, mode }) {
  const { name, version, address, started, self, offset_ms: offset, error_ms: error, messages_per_second: rate, from_memory: memory, apart, owed } = node;
  const beside = [address !== name && address, node.mode !== mode && modes[node.mode]].filter(Boolean).join(" · ");
  return html`
    <div role="row" class="line">
      <span role="cell" class="node"><bdi>${name}</bdi>${self && html` <span class="chip">this node</span>`}${beside && html`<span class="muted"> ${beside}</span>`}</span>
      <span role="cell"><span class="unit">version </span>${version || "–"}</span>
      <span role="cell"><span class="unit">up since </span>${started ? html`<time datetime=${started}>${toMinute(Date.parse(started))}</time>` : "–"}</span>
      <span role="cell"><span class="unit">clock </span>${clock(offset)} <span class="muted error-of-clock">± ${milliseconds(error)}</span></span>
      <span role="cell" class="number">${tenths.format(rate)}/s<span class="unit"> messages</span></span>
      <span role="cell" class="number">${whole.format(memory)}<span class="unit"> from memory</span></span>
      <span role="cell" class="number">${whole.format(apart)}<span class="unit"> without store</span></span>
      <span role="cell" class="number">${whole.format(owed)} ${owed === 1 ? "row" : "rows"}<span class="unit"> owed</span></span>
    </div>
  `;
}

// clock says how a node's clock differs from the server's. offset is what the node adds to its own.
/** @param {number} offset */
function clock(offset) {
  const difference = milliseconds(Math.abs(offset));
  return `${difference} ${offset < 0 ? "ahead" : "behind"}`;
}

/** @param {number} ms */
const milliseconds = (ms) => (ms < 1000 ? `${short.format(ms)} ms` : wait(ms));

// figures says what this node has done with the store. Rare events are named only if they happened.
/** @param {Api.getNodes} of */
function figures({ swaps = 0, conflicts = 0, healed = 0, unreadable = 0, overshoot }) {
  const sentences = [
    swaps > 0 && `This node has made ${count(swaps, "swap")} since its start${conflicts > 0 ? `. Another node was first ${whole.format(conflicts)} ${conflicts === 1 ? "time" : "times"}` : ""}.`,
    healed > 0 && `${count(healed, "row")} came back after the store had lost ${healed === 1 ? "it" : "them"}.`,
    unreadable > 0 && `${count(unreadable, "message")} ${unreadable === 1 ? "was" : "were"} decided without the store, because a row can’t be read.`,
    overshoot !== undefined && `Of the messages that this node allowed in the last hour, ${short.format(100 * overshoot)} % exceeded a limit.`,
  ];
  return sentences.filter(Boolean).join(" ");
}

/** @param {number} n @param {string} noun */
const count = (n, noun) => `${whole.format(n)} ${noun}${n === 1 ? "" : "s"}`;
