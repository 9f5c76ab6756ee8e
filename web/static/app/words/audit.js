// @ts-check
// Audit entries in words.

import { html } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { amount } from "./algorithms.js";
import { ChangeList } from "./changes.js";
import { OverrideWords } from "./overrides.js";
import { giver, silenceWords } from "./silence.js";
import { seconds, stamp, wait } from "./time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */

/** @type {Record<string, string>} */
export const actionNames = {
  policy: "changed the limits", discard: "restored the configured limits", grant: "granted messages", reset: "reset", pardon: "pardoned", unpardon: "undid a pardon",
  override: "set custom limits", exempt: "exempted", pause: "paused", resume: "resumed", raid: "switched raid mode",
  login: "connected the bot",
  timeout: "timed out", ban: "banned", lift: "lifted",
};

// AuditWords describes the details of an action. It is empty for an action without details.
/** @param {{state: State, change: Api.Audit}} props */
export function AuditWords({ state, change: { action, detail } }) {
  return words[action]?.(detail ?? {}, state) ?? null;
}

/** @type {Record<string, (detail: any, state: State) => Value>} */
const words = {
  policy: revision,
  discard: revision,
  grant: ({ limit, messages, until }) => html`${amount(messages)} extra${limit && html` in <bdi>${limit}</bdi>`}${ends(until)}`,
  pardon: ({ entry, messages, strikes }) => (entry ? html`entry ${entry}` : inARow(messages, strikes, "removed")),
  unpardon: ({ messages, strikes }) => inARow(messages, strikes, "restored"),
  override: ({ from, to }) => html`<${OverrideWords} own=${to} none="no custom limits" />, before: <${OverrideWords} own=${from} none="none" />`,
  exempt: ({ until }) => (isTime(until) ? `from all limits${ends(until)}` : "from all limits, permanently"),
  login: ({ account }) => html`as <bdi>${account}</bdi>`,
  timeout: ({ length, reason, former }) => `for ${wait(seconds(length) * 1000)}${given(reason, former)}`,
  ban: ({ reason, former }) => `until unbanned${given(reason, former)}`,
  lift: ({ banned, former }) => `${banned ? "a ban" : "a timeout"}${former?.by ? ` by ${giver(former.by)}` : ""}`,
  raid: ({ until }) => (isTime(until) ? `on${ends(until)}` : "off"),
};

/** @param {number} n @param {string} what */
const counted = (n, what) => `${amount(n)} ${what}${n === 1 ? "" : "s"}`;
/** @param {number} messages @param {number} strikes @param {string} how */
const inARow = (messages, strikes, how) => counted(messages, "message") + (strikes > 0 ? `, ${counted(strikes, "strike")} ${how}` : "");
// given adds the reason of a timeout or ban, and what it replaced.
/** @param {string | undefined} reason @param {Api.Silence | undefined} former */
const given = (reason, former) => (reason ? `: ${reason}` : "") + (former ? `, instead of ${silenceWords(former)}` : "");
/** @param {string | undefined} text */
const isTime = (text) => Date.parse(text ?? "") > 0; // Go's zero time is earlier
/** @param {string | undefined} until */
const ends = (until) => (isTime(until) ? ` until ${stamp(Date.parse(until))}` : "");

// revision links to the page Limits, which lists the revisions. If the revision with the number is
// known, revision also describes its changes.
/** @param {any} of @param {State} state */
function revision({ revision: number }, state) {
  const known = state.audit.revisions?.get(number);
  return html`
    <a href=${linkTo(state, "limits", {})}>revision ${number}</a>
    ${known?.difference?.length > 0 && html`<${ChangeList} changes=${known.difference} />`}
  `;
}
