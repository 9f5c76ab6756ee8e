// @ts-check
// The effect of pardoning a user, in words.

import { commas, sentences, t } from "../../text/text.js";
import { now } from "../core/state.js";
import { authorName } from "./author.js";
import { isShared } from "./scopes.js";
import { silenceWords } from "./silence.js";
import { upcoming, wait } from "./time.js";

/** @typedef {NonNullable<Api.postChannelsUsersPardon["held"]>} ThrottledBy */

const brief = 60_000; // ms; for a shorter wait, no remedy is suggested

// pardonWords describes the answer to a pardon: {word, sentence, isPartial, isThrottled}. word is
// short enough for a row. isThrottled reports whether a limit still makes the user wait long.
// isPartial reports whether such a wait remains, or a penalty, strike or message that wasn't
// pardoned.
/** @param {Api.postChannelsUsersPardon} pardon @param {string} [zone] */
export function pardonWords(pardon, zone) {
  const isThrottled = throttlesLong(pardon.held);
  const isPartial = pardon.silence === "kept" || pardon.strikes_left > 0 || pardon.has_older;
  const word = isPartial ? t("words.pardoned-partly") : isThrottled ? t("words.pardoned-throttled") : t("words.pardoned");
  const sentence = sentences(done(pardon), ...stays(pardon, zone), throttled(pardon.held, zone));
  return { word, sentence, isPartial: isPartial || isThrottled, isThrottled };
}

/** @param {Api.postChannelsUsersPardon} pardon */
function done(pardon) {
  const { again, id, by, messages, strikes_taken: strikes, dropped, silence } = pardon;
  const isOver = again && !id; // chatguard has no details of the pardon, as after a restart
  const parts = [
    strikes > 0 && t("words.strikes-removed", { n: strikes }),
    dropped > 0 && t("words.penalties-cancelled", { n: dropped }),
    silence === "lifted" && t("words.lifted"),
  ].filter(Boolean);
  if (isOver && parts.length === 0) return t("words.uncounted-said");
  const what = commas([isOver ? t("words.uncounted") : t("words.messages", { n: messages }), ...parts]);
  return again && !isOver ? t("words.pardoned-already-said", { by: authorName(by), what }) : t("words.pardoned-said", { what });
}

/** @param {Api.postChannelsUsersPardon} of @param {string | undefined} zone */
function stays({ silence, kept, silenced, deleted, strikes_left: strikes, has_older: hasOlder, messages }, zone) {
  return [
    silence === "kept" && (silenced ? t("words.in-force-said", { silence: silenceWords(silenced, zone) }) : t("words.silence-kept-said", { reason: kept })),
    silence === "lifting" && t("words.silence-lifting-said"),
    strikes > 0 && t("words.strikes-left-said", { n: strikes }),
    hasOlder && t("words.older-said", { n: messages }),
    deleted > 0 && t("words.deleted-said"),
  ];
}

/** @param {ThrottledBy | null | undefined} by */
const throttlesLong = (by) => Boolean(by) && (by.never || Date.parse(by.may_speak_at) - now() > brief);

/** @param {ThrottledBy | null | undefined} by @param {string | undefined} zone */
function throttled(by, zone) {
  if (!by) return "";
  const { limit, never } = by, at = Date.parse(by.may_speak_at), isForAll = isShared(by);
  if (never) return isForAll ? t("words.throttled-shared-never-said", { limit }) : t("words.throttled-never-said", { limit });
  if (at <= now()) return "";
  if (!throttlesLong(by)) {
    const values = { limit, wait: wait(at - now()) };
    return isForAll ? t("words.throttled-shared-wait-said", values) : t("words.throttled-wait-said", values);
  }
  const values = { limit, time: upcoming(at, zone) };
  return isForAll ? t("words.throttled-shared-until-said", values) : t("words.throttled-until-said", values);
}

// unpardonWords describes the effect of undoing a pardon.
/** @param {Api.deleteChannelsUsersPardon} of */
export function unpardonWords({ strikes_restored: strikes, lifted, dropped }) {
  return sentences(
    t("words.unpardoned-said"),
    strikes > 0 && t("words.strikes-restored-said", { n: strikes }),
    lifted && t("words.silence-not-repeated-said"),
    dropped > 0 && t("words.stay-cancelled-said"),
  );
}
