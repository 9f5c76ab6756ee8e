// @ts-check
// Audit entries in words.

import { commas, rich, t, table } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { accessName } from "./access.js";
import { authorName } from "./author.js";
import { ChangeList } from "./changes.js";
import { modesChanged } from "./modes.js";
import { OverrideWords } from "./overrides.js";
import { silenceWords } from "./silence.js";
import { seconds, stamp, wait } from "./time.js";
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */

/** @type {Record<string, string>} */
export const actionNames = table({
  policy: "rules.did-policy", discard: "rules.did-discard", grant: "rules.did-grant", reset: "rules.did-reset", pardon: "rules.did-pardon", unpardon: "rules.did-unpardon",
  override: "rules.did-override", exempt: "rules.did-exempt", pause: "rules.did-pause", resume: "rules.did-resume", raid: "rules.did-raid",
  chat_modes: "rules.did-chat-modes",
  note: "rules.did-note", delete_note: "rules.did-delete-note", settings: "rules.did-settings", login: "rules.did-login",
  timeout: "rules.did-timeout", ban: "rules.did-ban", lift: "rules.did-lift",
  webhook: "rules.did-webhook", unconfirmed: "rules.did-unconfirmed",
  token_made: "rules.did-token-made", token_ended: "rules.did-token-ended", link_made: "rules.did-link-made", link_ended: "rules.did-link-ended", session_ended: "rules.did-session-ended",
});

// webhookChanges names what people do with webhooks.
/** @type {Record<string, string>} */
const webhookChanges = table({
  added: "rules.did-webhook-added", changed: "rules.did-webhook", deleted: "rules.did-webhook-deleted", tested: "rules.did-webhook-tested",
  "sent again": "rules.did-webhook-again", discarded: "rules.did-webhook-discarded",
});

// icons maps an action to its icon.
/** @type {Record<string, string>} */
export const actionIcons = {
  policy: "sliders", discard: "undo", grant: "grant", reset: "reset", pardon: "undo", unpardon: "reset", override: "sliders", exempt: "exempt", pause: "pause", resume: "play",
  raid: "raid", chat_modes: "message", note: "note", delete_note: "trash", settings: "sliders", timeout: "clock", ban: "ban", lift: "check",
  webhook: "message", unconfirmed: "alert", token_made: "key", token_ended: "key", link_made: "key", link_ended: "key", session_ended: "sign-out",
};

// changeName says what a change did. Even an action that this page doesn't know is readable.
/** @param {Pick<Api.Audit, "action" | "detail">} change @returns {string} */
export function changeName({ action, detail }) {
  if (action === "webhook") return webhookChanges[detail?.did] ?? actionNames.webhook;
  if (action === "unconfirmed") return t("rules.did-unconfirmed-change", { change: changeName(detail) });
  if (action === "raid") return isTime(detail?.until) ? t("rules.did-raid-start") : t("rules.did-raid-end");
  return actionNames[action] ?? action.replaceAll("_", " ");
}

// AuditWords describes the details of a change, with the message that it was about.
/** @param {{state: State, change: Api.Audit}} props */
export function AuditWords({ state, change: { action, detail, message } }) {
  const about = (words[action] ?? facts)(detail ?? {}, state);
  if (!message) return about;
  const text = quoted(message.text || t("words.no-text"));
  return html`<a class="message" href=${linkTo(state, "journal", { entry: String(message.entry) })}>${rich("rules.quote", { text })}</a> ${about}`;
}

const clipped = 120; // characters of a message

// facts lists the details of an action that this page doesn't know, or what differs in them.
/** @param {any} detail */
function facts(detail) {
  const { from, to } = detail;
  const listed = from && to ? differences(from, to) : Object.entries(detail).filter(([, value]) => typeof value !== "object").map(([name, value]) => `${plain(name)}: ${value}`);
  return listed.length > 0 ? html`<bdi>${listed.join(t("words.semicolon")).slice(0, 2 * clipped)}</bdi>` : null;
}

/** @param {string} name */
const plain = (name) => name.replaceAll("_", " ").replaceAll(".", " ");

// differences lists the values that differ, by their names: "raid lasts: 10m0s → 20m0s".
/** @param {any} from @param {any} to @param {string} [path] @returns {string[]} */
function differences(from, to, path = "") {
  if (Array.isArray(to)) return differences(commas(from ?? []), commas(to), path);
  if (to === null || typeof to !== "object") return from === to ? [] : [`${plain(path)}: ${written(from)} → ${written(to)}`];
  return [...new Set([...Object.keys(from ?? {}), ...Object.keys(to)])].flatMap((name) => differences(from?.[name], to[name] ?? null, path ? `${path}.${name}` : name));
}

/** @param {any} value */
const written = (value) => (value === undefined || value === null || value === "" ? t("rules.none") : typeof value === "object" ? JSON.stringify(value) : String(value));

/** @type {Record<string, (detail: any, state: State) => Value>} */
const words = {
  policy: revision,
  discard: revision,
  grant: ({ limit, messages, until }) => {
    const values = { n: messages, limit: html`<bdi>${limit}</bdi>` };
    return isTime(until) ? rich("rules.audit-grant-until", { ...values, time: at(until) }) : rich("rules.audit-grant", values);
  },
  pardon: ({ entry, messages, strikes }) => commas([t("words.messages", { n: entry ? 1 : messages }), strikes > 0 && t("words.strikes-removed", { n: strikes })]),
  unpardon: ({ messages, strikes }) => commas([t("words.messages", { n: messages }), strikes > 0 && t("rules.audit-strikes-restored", { n: strikes })]),
  override: ({ from, to }) =>
    rich("rules.audit-override", {
      to: html`<${OverrideWords} own=${to} none=${t("rules.audit-override-none")} />`, from: html`<${OverrideWords} own=${from} none=${t("rules.audit-override-before-none")} />`,
    }),
  exempt: ({ until }) => (isTime(until) ? t("rules.audit-exempt-until", { time: at(until) }) : t("rules.audit-exempt")),
  login: ({ account }) => rich("rules.audit-login", { account: html`<bdi>${account}</bdi>` }),
  timeout: ({ length, reason, former, restored }) => given(t(restored ? "rules.audit-timeout-restored" : "rules.audit-timeout", { length: wait(seconds(length) * 1000) }), reason, former),
  ban: ({ reason, former }) => given(t("rules.audit-ban"), reason, former),
  lift: ({ banned, former }) => {
    if (!former?.by) return banned ? t("words.a-ban") : t("words.a-timeout");
    const by = authorName(former.by);
    return banned ? t("words.a-ban-by", { by }) : t("words.a-timeout-by", { by });
  },
  note: () => null,
  delete_note: ({ by }) => rich("rules.note-by", { by: html`<bdi>${authorName(String(by))}</bdi>` }),
  webhook: ({ name, host }) => html`<bdi>${commas([name, host])}</bdi>`,
  token_made: accessGiven,
  token_ended: ({ name }) => html`<bdi>${name}</bdi>`,
  link_made: accessGiven,
  link_ended: accessGiven,
  session_ended: accessGiven,
  reset: () => t("rules.audit-reset"),
  pause: () => t("rules.audit-pause"),
  resume: () => t("rules.audit-resume"),
  settings: facts,
  unconfirmed: ({ action, detail }, state) => (words[action] ?? facts)(detail ?? {}, state),
  chat_modes: (change) => commas(modesChanged(change)),
  raid: ({ until }) => (isTime(until) ? t("rules.audit-raid-until", { time: at(until) }) : t("rules.audit-raid-end")),
};

// accessGiven names whose access it is, and their role.
/** @param {{name: string, role: string}} detail */
function accessGiven({ name, role }) {
  return rich("rules.audit-access", { name: html`<bdi>${name}</bdi>`, role: accessName(role) });
}

// given adds the reason of a timeout or ban, and what it replaced.
/** @param {string} how @param {string | undefined} reason @param {Api.Silence | undefined} former */
function given(how, reason, former) {
  if (!former) return reason ? t("rules.audit-reason", { how, reason }) : how;
  const silence = silenceWords(former);
  return reason ? t("rules.audit-reason-instead", { how, reason, silence }) : t("rules.audit-instead", { how, silence });
}

/** @param {string | undefined} text */
const isTime = (text) => Date.parse(text ?? "") > 0; // Go's zero time is earlier
/** @param {string} time */
const at = (time) => stamp(Date.parse(time));
/** @param {unknown} text */
const quoted = (text) => html`<bdi>${String(text).slice(0, clipped)}</bdi>`;

// revision links to the page Limits, which lists the revisions. If the revision with the number is
// known, revision also describes its changes.
/** @param {any} of @param {State} state */
function revision({ revision: number }, state) {
  const known = state.audit.revisions.get(number);
  return html`
    <a href=${linkTo(state, "limits", {})}>${t("rules.revision", { number: String(number) })}</a>
    ${known?.difference?.length > 0 && html`<${ChangeList} changes=${known.difference} />`}
  `;
}
