// @ts-check
// Why a channel isn't read, and what to do about it. It is loaded when a channel isn't read.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { Unread } from "../core/state.js" */

/** @type {Partial<Record<Unread["reason"], [what: TextKey, todo: TextKey]>>} */
const words = {
  "no address": ["unread.address", "unread.network"],
  unreachable: ["unread.unreachable", "unread.network"],
  "no token": ["unread.token", "unread.connect"],
  "token refused": ["unread.refused", "unread.connect"],
  "no channel": ["unread.none", "unread.correct"],
  banned: ["unread.banned", "unread.unban"],
  "not allowed": ["unread.denied", "unread.rights"],
  "other channel": ["unread.taken", "unread.correct"],
  "not answered": ["unread.unanswered", "unread.compare"],
};

// vague are the reasons that need chatguard's own words, too.
const vague = new Set(["no address", "unreachable", "token refused", "other channel", "other"]);

/**
 * Words say that a channel isn't read, why, and what to do. detail says why in chatguard's own
 * words.
 * @typedef {{lead: Value[], what: Value[], todo: Value[], detail: string}} Words
 */

/** @param {Unread} of @param {string} login @returns {Words} */
export function unreadWords({ reason, detail = "" }, login) {
  if (reason === "joining") return { lead: [], what: [t("unread.joining")], todo: [t("unread.joining-about")], detail: "" };
  const [what, todo] = words[reason] ?? ["unread.other", "unread.doctor"];
  const values = {
    channel: html`<bdi>#${login}</bdi>`, key: code("twitch.channels"), file: code("chatguard.toml"),
    reload: code("chatguard reload"), doctor: code("chatguard doctor"), login: code("chatguard login"),
  };
  return { lead: rich("unread.lead", values), what: rich(what, values), todo: rich(todo, values), detail: vague.has(reason) || !words[reason] ? detail : "" };
}

/** @param {string} text */
const code = (text) => html`<code>${text}</code>`;
