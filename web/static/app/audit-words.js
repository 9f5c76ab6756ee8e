// What somebody changed, in words.

import { html } from "../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { ChangeList } from "./change-words.js";
import { OverrideWords } from "./override-words.js";
import { linkTo } from "./route.js";
import { stamp } from "./time.js";

export const actionNames = {
  policy: "changed the limits", discard: "went back to the limits as configured", grant: "granted messages", reset: "reset", pardon: "pardoned", unpardon: "undid the pardon of",
  override: "set numbers of their own", exempt: "exempted", pause: "paused", resume: "resumed", raid: "switched raid mode",
};

// AuditWords says what an action was given; nothing where its name says it all.
export function AuditWords({ state, change: { action, detail } }) {
  return words[action]?.(detail ?? {}, state) ?? null;
}

const words = {
  policy: revision,
  discard: revision,
  grant: ({ limit, messages, until }) => html`${amount(messages)} extra${limit && html` in <bdi>${limit}</bdi>`}${ends(until)}`,
  pardon: ({ entry, messages, strikes }) => (entry ? html`entry ${entry}` : inARow(messages, strikes, "taken back")),
  unpardon: ({ messages, strikes }) => inARow(messages, strikes, "counting again"),
  override: ({ from, to }) => html`<${OverrideWords} own=${to} none="nothing of their own" />, before: <${OverrideWords} own=${from} none="nothing" />`,
  exempt: ({ until }) => (isTime(until) ? `from all limits${ends(until)}` : "from all limits, for good"),
  raid: ({ until }) => (isTime(until) ? `on${ends(until)}` : "off"),
};

const counted = (n, what) => `${amount(n)} ${what}${n === 1 ? "" : "s"}`;
const inARow = (messages, strikes, how) => counted(messages, "message") + (strikes > 0 ? `, ${counted(strikes, "strike")} ${how}` : "");
const isTime = (text) => Date.parse(text ?? "") > 0; // Go's zero time is long before
const ends = (until) => (isTime(until) ? ` until ${stamp(Date.parse(until))}` : "");

// revision tells what a change of the limits changed, where that is still known.
function revision({ revision: number }, state) {
  const known = state.audit.revisions?.get(number);
  return html`
    <a href=${linkTo(state, "limits", {})}>revision ${number}</a>
    ${known?.difference?.length > 0 && html`<${ChangeList} changes=${known.difference} />`}
  `;
}
