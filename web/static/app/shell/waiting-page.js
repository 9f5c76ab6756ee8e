// @ts-check
// The page shown in place of others while the ID of no channel is known: why, and what to do.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { pages } from "../core/route.js";
import { NodesCard } from "../now/nodes.js";
import { SetupCard } from "../start/card.js";
import { DatabaseNote } from "../widgets/database-note.js";
import { PageHead } from "../widgets/page-head.js";
import { SharedNote } from "../widgets/shared-note.js";
import { withCode } from "../words/code.js";
import { unreadWords } from "../words/unread.js";
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { State, Unread } from "../core/state.js" */

/** @typedef {{login: string} & Unread} Unidentified */

/** @param {{state: State}} props */
export function WaitingPage({ state }) {
  return html`
    <${PageHead} title=${pages[state.route]} />
    <${DatabaseNote} database=${state.status?.database} policy=${state.policy} />
    <${SharedNote} shared=${state.status?.shared} />
    <${NodesCard} state=${state} />
    <div class="nobody waiting">${state.status && reasonsOf(state).map(Reason)}</div>
    <${SetupCard} state=${state} />
  `;
}

/** @param {{what: string | Value[], todo: string | Value[], detail?: string}} of */
const Reason = ({ what, todo, detail }) => html`
  <div>
    <p class="headline">${what}</p>
    <p>${todo}</p>
    ${detail && html`<p class="detail">${withCode(detail)}</p>`}
  </div>
`;

// reasonsOf returns the reasons why channels aren't read, each once.
/** @param {State} of */
function reasonsOf({ unidentified, status }) {
  if (unidentified.length > 0) return unidentified.filter(isNew).map((one) => unreadWords(one, one.login));
  const twitch = status.connections.find(({ name }) => name === "Twitch");
  if (!twitch) return [{ what: t("unread.waiting"), todo: t("unread.waiting-about") }];
  return [unreadWords({ reason: twitch.state === "disconnected" ? "unreachable" : "joining" }, "")];
}

// ofAll are the reasons that are the same for all channels.
const ofAll = new Set(["joining", "no address", "unreachable", "no token", "token refused"]);

/** @param {Unidentified} of @param {number} i @param {Unidentified[]} all */
const isNew = ({ reason }, i, all) => !ofAll.has(reason) || all.findIndex((one) => one.reason === reason) === i;
