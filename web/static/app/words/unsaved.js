// @ts-check
// Notes on changes that aren't saved yet.

import { html } from "../../vendor/htm-preact.js";
/** @import { Database } from "../core/state.js" */

// unsavedChange returns the note about a single change.
/** @param {Database | undefined} database */
export function unsavedChange(database) {
  if (database?.state === "off") return "In force until the next restart: there is no database.";
  return "In force, but not saved yet: a restart now would undo it.";
}

// unsavedLimits returns the note about the limits in force.
/** @param {Database | undefined} database */
export function unsavedLimits(database) {
  if (database?.state === "off") return html`<strong>In force until the next restart.</strong> Nothing is saved: chatguard runs without a database.`;
  const why = database?.detail ? ` (${database.detail})` : "";
  return html`
    <strong>In force, but not saved yet:</strong> the database is failing${why}.
    The change will be saved once the database works again. A restart before then would undo it.
  `;
}
