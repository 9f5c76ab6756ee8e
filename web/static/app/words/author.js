// @ts-check
// The authors of changes.

import { t } from "../../text/text.js";

// isProgram reports whether the author is chatguard itself.
/** @param {string | undefined} author */
export const isProgram = (author) => author === "chatguard";

// authorName names an author as people read it, with where they come from, so that nobody can
// impersonate another: "anna (token)". Names of records of earlier versions have no origin, and
// those of the owner and of chatguard have none.
/** @param {string} author */
export function authorName(author) {
  const end = author.indexOf(":"), name = author.slice(end + 1);
  switch (author.slice(0, Math.max(end, 0))) {
    case "twitch": return t("words.on-twitch", { name });
    case "token": return t("words.by-token", { name });
    case "link": return t("words.by-link", { name });
    case "site": return t("words.by-site", { name });
  }
  return author;
}
