// @ts-check
// How often the text of a throttled message was written.

import { commas, number, t } from "../../text/text.js";
import { capitalised } from "./roles.js";
import { length, seconds } from "./time.js";

// repeatsWords writes "4 times by them in 30 seconds; 37 people wrote it in 10 minutes". Of a text
// that its author wrote only once, it leaves that out.
/** @param {NonNullable<Api.Entry["repeats"]>} of */
export function repeatsWords({ times, people, window }) {
  const repeated = t("words.repeated", { n: times, length: length(seconds(window)) }), wrote = t("words.repeated-people", { n: people });
  if (people <= 1) return repeated;
  return times > 1 ? t("words.repeated-by", { repeated, people: wrote }) : wrote;
}

// repeatsBrief writes the same in a few words: "4×, 37 people".
/** @param {NonNullable<Api.Entry["repeats"]>} of */
export const repeatsBrief = ({ times, people }) => commas([(times > 1 || people <= 1) && `${number.format(times)}×`, people > 1 && t("words.repeats-people", { n: people })]);

// repeatsSaid writes it as a sentence. It is empty if it isn't known.
/** @param {Api.Entry["repeats"] | undefined} repeats */
export const repeatsSaid = (repeats) => repeats && t("shell.sentence", { what: capitalised(repeatsWords(repeats)) });
