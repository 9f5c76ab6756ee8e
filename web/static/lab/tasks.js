// @ts-check
// The tasks of the scenes. What passed is what the engine decided; a task only counts it.

import { list, t } from "../text/text.js";
import { length as lengthText } from "../app/words/time.js";
import { shareText } from "./numbers.js";
/** @import { More, Setup } from "./state.js" */
/** @import { Entry } from "./tape.js" */

/** @typedef {{isDone: boolean, text: string}} Progress text says how far it is */

/** @typedef {(lanes: Entry[][], lab: Setup & More) => Progress} Task what has happened so far, lane by lane */

/** @param {Entry[] | undefined} entries */
const passed = (entries) => (entries ?? []).filter(({ mark }) => mark !== "throttled");

// mostWithin returns the most messages that left within any stretch of a given length, both ends
// included.
/** @param {Entry[]} entries @param {number} length ms */
export function mostWithin(entries, length) {
  const times = passed(entries).map(({ leaves }) => leaves).sort((a, b) => a - b);
  let most = 0, first = 0;
  times.forEach((time, i) => {
    while (time - times[first] > length) first++;
    most = Math.max(most, i - first + 1);
  });
  return most;
}

// passWithin wants count messages to pass in the first lane within a duration.
/** @param {number} count @param {number} length ms @param {number} [after] lab time from which they count @returns {Task} */
export const passWithin = (count, length, after = 0) => ([entries]) => {
  const most = mostWithin(entries.filter(({ at }) => at > after || after === 0), length);
  return { isDone: most >= count, text: t("lab.task-within", { time: lengthText(length / 1000), most, count }) };
};

// passLow wants count messages to pass in the first lane at low priority.
/** @param {number} count @returns {Task} */
export const passLow = (count) => ([entries]) => {
  const low = entries.filter(({ mark }) => mark === "low").length;
  return { isDone: low >= count, text: t("lab.task-low", { low, count }) };
};

// waitAtMost wants a queue that refuses a message, and in which nobody waits longer than most.
/** @param {number} most ms @returns {Task} */
export const waitAtMost = (most) => ([entries]) => {
  const longest = Math.max(0, ...passed(entries).map(({ at, leaves }) => leaves - at));
  return { isDone: longest > 0 && longest <= most && entries.some(({ mark }) => mark === "throttled"), text: longest > 0 ? t("lab.task-wait", { time: lengthText(longest / 1000) }) : t("lab.task-no-wait") };
};

// spendNothing wants the first lane's limit full to refuse count messages while the same lane's
// limit unused has counted none.
/** @param {number} count @param {string} full @param {string} unused @returns {Task} */
export const spendNothing = (count, full, unused) => ([entries], { lanes: [lane] }) => {
  const index = lane?.limits.findIndex(({ name }) => name === unused) ?? -1;
  const free = entries.filter(({ limit, pictures }) => limit === full && pictures[index]?.count === 0).length;
  return { isDone: free >= count, text: t("lab.task-refused", { full, unused, free, count }) };
};

// quietSpammer wants the spammers to have less than most percent of the messages that passed in the
// last minute, while nobody else was throttled. progress says how far it is.
/** @param {number} most percent @param {(user: string) => boolean} isSpam @param {"lab.task-spammer" | "lab.task-raid"} progress @returns {Task} */
export const quietSpammer = (most, isSpam, progress) => ([entries]) => {
  const recent = entries.filter(({ at }) => at > (entries.at(-1)?.at ?? 0) - 60_000), all = passed(recent);
  const share = (100 * all.filter(({ user }) => isSpam(user)).length) / Math.max(1, all.length);
  const others = recent.filter(({ mark, user }) => mark === "throttled" && !isSpam(user)).length;
  const hasAll = recent.length > 0 && recent.at(-1).at - entries[0].at >= 60_000 && recent.some(({ user }) => isSpam(user));
  return { isDone: hasAll && share < most && others === 0, text: hasAll ? t(progress, { share: shareText(share), n: others }) : t("lab.task-early") };
};

// winNothing wants the first lane to refuse so many messages after a move, and to let no more pass
// than the best of the other lanes.
/** @param {number} refused @returns {Task} */
export const winNothing = (refused) => (lanes, { move }) => {
  const [moved, ...stayed] = lanes.map((entries) => passed(entries).length);
  const after = move ? lanes[0].filter(({ at, mark }) => at >= move.at && mark === "throttled").length : 0;
  return { isDone: after >= refused && moved <= Math.max(...stayed), text: t("lab.task-moved", { moved, others: list(stayed).join(""), after, refused }) };
};
