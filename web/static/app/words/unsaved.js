// @ts-check
// Notes on changes that aren't saved yet.

import { rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
/** @import { Database } from "../core/state.js" */

// unsavedChange returns the note about a single change.
/** @param {Database | undefined} database */
export const unsavedChange = (database) => (database?.state === "off" ? t("words.unsaved-off") : t("words.unsaved"));

// unsavedLimits returns the note about the limits in force.
/** @param {Database | undefined} database */
export function unsavedLimits(database) {
  if (database?.state === "off") return rich("words.unsaved-limits-off", { lead: html`<strong>${t("words.unsaved-limits-off-lead")}</strong>` });
  const lead = html`<strong>${t("words.unsaved-limits-lead")}</strong>`;
  return database?.detail ? rich("words.unsaved-limits-detail", { lead, detail: database.detail }) : rich("words.unsaved-limits", { lead });
}
