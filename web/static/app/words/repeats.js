// @ts-check
// How often the text of a throttled message was written.

import { t } from "../../text/text.js";
import { length, seconds } from "./time.js";

// repeatsWords writes "4 times by them in 30 seconds; 37 people wrote it in 10 minutes". Of a text
// that its author wrote only once, it leaves that out.
/** @param {Api.Entry["repeats"]} of */
export function repeatsWords({ times, people, window }) {
  const repeated = t("words.repeated", { n: times, length: length(seconds(window)) }), wrote = t("words.repeated-people", { n: people });
  if (people <= 1) return repeated;
  return times > 1 ? t("words.repeated-by", { repeated, people: wrote }) : wrote;
}
