// @ts-check
// What was last done to a user, and whether they are timed out or banned. chatguard tells both with
// each frame, also if it was done on Twitch. What this tab has just done counts until a frame tells
// something later.

import { t } from "../../text/text.js";
import { problemOf } from "../changes/user.js";
import { inForce, state } from "../core/state.js";
import { authorName, isProgram } from "../words/author.js";
import { outcomeWords } from "../words/penalties.js";
import { silenceBrief, silenceDone } from "../words/silence.js";
/** @import { TextKey } from "../../text/text.js" */
/** @import { Outcome } from "../changes/user.js" */
/** @import { User } from "../core/state.js" */

/**
 * Deed is what was done. kind is the class of its chip, and title its tooltip, by default all words.
 * @typedef {{word: string, kind: string, detail: string, title?: string}} Deed
 */

const echo = 1000; // within this time after a change, a frame may still tell the state before it, ms

// silenceNow returns a user's timeout or ban in force, or null.
/** @param {User} user */
export function silenceNow(user) {
  const own = state.changes[user.user_id];
  return inForce(own?.silenced !== undefined && !own.busy && isLatest(own, user) ? own.silenced : user.silenced);
}

// deedOf says what was last done to a user, by this tab, another person or chatguard.
/** @param {User} user @returns {Deed} */
export function deedOf(user) {
  const own = state.changes[user.user_id];
  if (own?.busy) return { word: t("now.saving"), kind: "pending", detail: "" };
  const { act } = user, silence = silenceNow(user);
  const isNews = own?.problem || own?.silenced !== undefined; // a silence in force matters more than another change
  if (own && !own.isUnsent && own.at >= Date.parse(user.at) && isLatest(own, user) && (isNews || !silence)) return ownWords(own, silence);
  const acted = act && timeOf(act) >= Date.parse(user.at) ? actWords(act) : "";
  if (acted && !silence) return { word: acted, kind: act.partial ? "partly" : "changed", detail: "" };
  const isOther = acted && !silences(act.action) && timeOf(act) >= timeOf(silence ?? {});
  if (silence && (isOther || !isPenalty(silence, user))) {
    const all = silenceDone(silence);
    return { word: silenceBrief(silence), kind: silence.banned ? "banned" : "timed-out", detail: "", title: isOther ? `${all}; ${acted}` : all };
  }
  return user.total > 0 ? outcomeWords(user) : { word: "", kind: "", detail: "" };
}

/** @param {{at?: string}} of */
const timeOf = ({ at }) => Date.parse(at ?? "") || 0;

/** @param {string} action */
const silences = (action) => action === "timeout" || action === "ban";

// isPenalty reports whether the outcome of the user's last message tells of this timeout or ban.
/** @param {Api.Silence} silence @param {User} user */
const isPenalty = ({ banned, by }, { outcome: { action, result } }) => isProgram(by) && result === "done" && action === (banned ? "ban" : "timeout");

// isLatest reports whether nothing that chatguard has told of a user contradicts a change of this
// tab. If the change failed or its answer was lost, whatever was done since it was sent does. If it
// was refused for a timeout or ban, the end of that does, too.
/** @param {Outcome} own @param {User} user */
export function isLatest(own, { act, silenced, toldAt }) {
  const silence = inForce(silenced);
  if (own.problem && own.silenced && toldAt > own.at + echo) return false;
  if (own.problem) return !(own.isConflict && silence) && !(act && timeOf(act) >= own.sentAt) && !(silence && timeOf(silence) >= own.sentAt);
  const since = timeOf(own.silenced ?? {}) || own.at; // the answer may arrive after another person’s act
  // An undo may restore the timeout of somebody else.
  /** @param {Api.Silence} of */
  const isOurs = ({ at, by }) => by === state.me.author || (own.action === "lift" && by === own.silenced?.by && timeOf({ at }) <= since + echo);
  if (act && timeOf(act) > (isOwn(act, own) ? own.at + echo : since)) return false;
  if (silence && timeOf(silence) > since && !isOurs(silence)) return false;
  if (!own.silenced) return own.silenced === undefined || !silence || toldAt <= own.at + echo;
  if (!inForce(own.silenced) || (silence && !isOurs(silence) && !isOurs(own.silenced))) return false;
  return toldAt <= own.at + echo || Boolean(silence && isOurs(silence));
}

/** @param {NonNullable<User["act"]>} act @param {Outcome} own */
const isOwn = ({ author, action, ended }, own) => author === state.me.author && (ended ? "lift" : action) === own.action;

/** @param {Outcome} outcome @param {Api.Silence | null} silence @returns {Deed} */
function ownWords(outcome, silence) {
  const { problem, isUnknown, done, sentence, severity, isPartial, isSaved } = outcome;
  if (problem) return { word: isUnknown ? t("now.unconfirmed") : t("now.refused"), kind: "failed", detail: problemOf(outcome, silence) };
  const kind = !isSaved || isPartial ? "partly" : severity || "changed";
  return { word: done, kind, detail: isSaved ? "" : t("now.not-saved"), ...(isPartial && { title: sentence }) };
}

/** @type {Record<string, TextKey>} */
const acts = {
  timeout: "now.act-timeout", ban: "now.act-ban", lift: "now.act-lift", pardon: "now.act-pardon", unpardon: "now.act-unpardon",
  grant: "now.act-grant", exempt: "now.act-exempt", reset: "now.act-reset", override: "now.act-override",
};

/** @type {Record<string, TextKey>} */
const ends = { timeout: "now.act-end-timeout", ban: "now.act-unban" };

/** @param {NonNullable<User["act"]>} act */
const actWords = ({ action, author, partial, ended }) => t(partial ? "now.act-pardon-partly" : (ends[ended ?? ""] ?? acts[action] ?? "now.act-override"), { by: authorName(author) });
