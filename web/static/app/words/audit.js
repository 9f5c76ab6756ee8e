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
  override: "set custom limits", exempt: "exempted", pause: "paused", resume: "resumed", raid: "started or ended raid mode",
  note: "added a note", delete_note: "deleted a note", settings: "changed the settings",
  login: "connected the bot",
  timeout: "timed out", ban: "banned", lift: "lifted",
};

// icons maps an action to its icon.
/** @type {Record<string, string>} */
export const actionIcons = {
  policy: "sliders", discard: "undo", grant: "grant", reset: "reset", pardon: "undo", unpardon: "reset", override: "sliders", exempt: "exempt", pause: "pause", resume: "play",
  raid: "raid", note: "note", delete_note: "trash", settings: "sliders", timeout: "clock", ban: "ban", lift: "check",
};

// changeName says what a change did. Even an action that this page doesn't know is readable.
/** @param {Api.Audit} change */
export function changeName({ action, detail }) {
  if (action === "raid") return isTime(detail?.until) ? "started raid mode" : "ended raid mode";
  return actionNames[action] ?? action.replaceAll("_", " ");
}

// AuditWords describes the details of a change, with the message that it was about.
/** @param {{state: State, change: Api.Audit}} props */
export function AuditWords({ state, change: { action, detail, message } }) {
  const about = (words[action] ?? facts)(detail ?? {}, state);
  if (!message) return about;
  return html`<a class="message" href=${linkTo(state, "journal", { entry: String(message.entry) })}>“<bdi>${message.text.slice(0, clipped) || "text not stored"}</bdi>”</a> ${about}`;
}

const clipped = 120; // characters of a message

// facts lists the details of an action that this page doesn't know, or what differs in them.
/** @param {any} detail */
function facts(detail) {
  const { from, to } = detail;
  const listed = from && to ? differences(from, to) : Object.entries(detail).filter(([, value]) => typeof value !== "object").map(([name, value]) => `${plain(name)}: ${value}`);
  return listed.length > 0 ? html`<bdi>${listed.join("; ").slice(0, 2 * clipped)}</bdi>` : null;
}

/** @param {string} name */
const plain = (name) => name.replaceAll("_", " ").replaceAll(".", " ");

// differences lists the values that differ, by their names: "raid lasts: 10m0s → 20m0s".
/** @param {any} from @param {any} to @param {string} [path] @returns {string[]} */
function differences(from, to, path = "") {
  if (to === null || typeof to !== "object") return from === to ? [] : [`${plain(path)}: ${written(from)} → ${written(to)}`];
  return [...new Set([...Object.keys(from ?? {}), ...Object.keys(to)])].flatMap((name) => differences(from?.[name], to[name] ?? null, path ? `${path}.${name}` : name));
}

/** @param {any} value */
const written = (value) => (value === undefined || value === null || value === "" ? "none" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** @type {Record<string, (detail: any, state: State) => Value>} */
const words = {
  policy: revision,
  discard: revision,
  grant: ({ limit, messages, until }) => html`${amount(messages)} extra${limit && html` in <bdi>${limit}</bdi>`}${ends(until)}`,
  pardon: ({ entry, messages, strikes }) => inARow(entry ? 1 : messages, strikes, "removed"),
  unpardon: ({ messages, strikes }) => inARow(messages, strikes, "restored"),
  override: ({ from, to }) => html`<${OverrideWords} own=${to} none="no custom limits" />, before: <${OverrideWords} own=${from} none="none" />`,
  exempt: ({ until }) => (isTime(until) ? `from all limits${ends(until)}` : "from all limits, permanently"),
  login: ({ account }) => html`as <bdi>${account}</bdi>`,
  timeout: ({ length, reason, former }) => `for ${wait(seconds(length) * 1000)}${given(reason, former)}`,
  ban: ({ reason, former }) => `until unbanned${given(reason, former)}`,
  lift: ({ banned, former }) => `${banned ? "a ban" : "a timeout"}${former?.by ? ` by ${giver(former.by)}` : ""}`,
  note: ({ text }) => html`“<bdi>${String(text).slice(0, clipped)}</bdi>”`,
  delete_note: ({ text, by }) => html`“<bdi>${String(text).slice(0, clipped)}</bdi>” by <bdi>${giver(String(by))}</bdi>`,
  reset: () => "usage and strikes cleared",
  pause: () => "nobody is throttled until somebody resumes",
  resume: () => "the limits apply again",
  settings: facts,
  raid: ({ until }) => (isTime(until) ? ends(until).trim() : "the usual limits apply again"),
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
