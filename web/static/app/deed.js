// What was done about a throttled message and how it went, in a few words.

import { lastingWords, nouns, past } from "./penalty-words.js";

const present = { none: "nothing to do", delete: "deleting…", warn: "warning…", timeout: "timing out…", ban: "banning…", drop: "dropping…" };

// deed returns {word, kind, detail}; kind is the colour: "good", "notice", "warn", "bad" or "off".
export function deed({ penalty, outcome }) {
  const [action] = penalty.split(" ");
  const forSoLong = lastingWords(penalty);
  const tried = outcome.action;
  switch (outcome.result) {
    case "observed":
      return { word: `would be ${past[action] ?? action}${forSoLong}`, kind: "notice", detail: "" };
    case "done":
      return { word: (past[tried] ?? tried) + (tried === action ? forSoLong : ""), kind: "good", detail: outcome.reason };
    case "failed":
      return { word: `${nouns[tried] ?? tried} failed`, kind: "bad", detail: outcome.reason };
    case "skipped":
      return { word: `${nouns[tried] ?? tried} skipped`, kind: "warn", detail: outcome.reason };
  }
  return { word: present[action] ?? action, kind: "off", detail: "" };
}
