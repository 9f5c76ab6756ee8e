// @ts-check
// The title of the browser's tab.

import { t } from "../../text/text.js";
import { isMissing, pages } from "../core/route.js";
import { channelName, nameOf as userName, standing } from "../core/state.js";
/** @import { State } from "../core/state.js" */

const pause = 1000; // between two changes of the count, ms

let named = ""; // the title without the count
let countedAt = 0; // when the title was written last, by the browser's clock, ms

// entitle writes the title. The count changes at most once a second.
/** @param {State} state */
export function entitle(state) {
  const name = nameOf(state);
  if (state.session === "unknown" || (name === named && Date.now() - countedAt < pause)) return;
  named = name;
  countedAt = Date.now();
  const title = titleOf(state);
  if (document.title !== title) document.title = title;
}

// titleOf returns "(8) Now · #gardenhour · chatguard": the number of users throttled now, the user
// shown, the page and the channel.
/** @param {State} state */
export function titleOf(state) {
  const { throttled } = state.session === "out" ? { throttled: 0 } : standing();
  return (throttled > 0 ? `(${throttled}) ` : "") + nameOf(state);
}

/** @param {State} state */
function nameOf(state) {
  const { session, route, people, channels, channel } = state;
  if (session === "out") return `${t("shell.sign-in")} · chatguard`;
  if (isMissing(state)) return `${t("shell.missing")} · chatguard`;
  const card = route === "people" ? people?.person?.card : null;
  const shown = channels.find((c) => c.id === channel);
  const parts = [card && isolated(userName(card)), pages[route], shown && "#" + isolated(channelName(shown)), "chatguard"];
  return parts.filter(Boolean).join(" · ");
}

// isolated cuts and isolates hostile names, so that they can't reverse the text after them.
/** @param {string} name */
const isolated = (name) => (/^\w{0,50}$/.test(name) ? name : `\u2068${name.slice(0, 50)}\u2069`);
