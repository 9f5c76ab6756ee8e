// @ts-check
// What gives access, and the requests about it.

import { table } from "../../text/text.js";

/** @typedef {Api.getAccess} Grants */
/** @typedef {Grants["tokens"][number]} Token */
/** @typedef {Grants["links"][number]} Link */
/** @typedef {Grants["sessions"][number]} Session */

/** @typedef {"token" | "link"} Kind what can be made */

// roles are what a new token or link may allow.
/** @type {Record<Kind, string[]>} */
export const roles = { token: ["view", "help", "moderate", "own", "check", "overlay"], link: ["view", "help", "moderate", "own"] };

// roleMeanings say what each role allows.
/** @type {Record<string, string>} */
export const roleMeanings = table({
  view: "admin.may-view", help: "admin.may-help", moderate: "admin.may-moderate", own: "admin.may-own", check: "admin.may-check", overlay: "admin.may-overlay",
});

// lifetimes maps after which time a token expires to its name. Without a time, it never does.
/** @type {Record<string, string>} */
export const lifetimes = table({ "": "admin.never", "7d": "admin.a-week", "30d": "admin.a-month", "90d": "admin.three-months", "365d": "admin.a-year" });
