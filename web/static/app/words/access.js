// @ts-check
// What people and programs may do, in words.

import { t } from "../../text/text.js";

// accessName names an access: "moderator". Even one that this page doesn't know is readable.
/** @param {string} access */
export function accessName(access) {
  switch (access) {
    case "view": return t("shell.access-view");
    case "help": return t("shell.access-help");
    case "moderate": return t("shell.access-moderate");
    case "moderate-notices": return t("shell.access-moderate-notices");
    case "own": return t("shell.access-own");
    case "check": return t("shell.access-check");
    case "overlay": return t("shell.access-overlay");
  }
  return access;
}
