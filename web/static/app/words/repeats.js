// @ts-check
// How often the text of a throttled message was written.

import { commas, number, t } from "../../text/text.js";
import { length, seconds } from "./time.js";

const peopleWindow = 600; // s, in which chatguard counts people

// repeatsWords writes "They wrote it 4 times in 30 seconds; 37 people did in 10 minutes". Of a text
// that its author wrote only once, it leaves that out.
/** @param {NonNullable<Api.Entry["repeats"]>} of */
export function repeatsWords({ times, people, window }) {
  const repeated = t("words.repeated", { n: times, length: length(seconds(window)) });
  if (people <= 1) return repeated;
  if (times <= 1) return t("words.repeated-people", { n: people });
  return t(seconds(window) === peopleWindow ? "words.repeated-by" : "words.repeated-by-in", { repeated, people: t("words.repeats-people", { n: people }) });
}

// repeatsBrief writes the same in a few words: "4×, 37 people".
/** @param {NonNullable<Api.Entry["repeats"]>} of */
export const repeatsBrief = ({ times, people }) => commas([(times > 1 || people <= 1) && `${number.format(times)}×`, people > 1 && t("words.repeats-people", { n: people })]);

// repeatsSaid writes it as a sentence. It is empty if it isn't known.
/** @param {Api.Entry["repeats"] | undefined} repeats */
export const repeatsSaid = (repeats) => repeats && t("shell.sentence", { what: repeatsWords(repeats) });
