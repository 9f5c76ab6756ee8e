// @ts-check
// Parts of all pages and of the Lab: the head of a page, notes, charts and dialogs. And what the
// page says if chatguard doesn't answer, or has ended the session.

export default {
  // Requests to chatguard, and the session
  "no-answer": "chatguard does not respond. Check that it is running.",
  "failed-answer": "chatguard answered with status {status}. Try again.",
  "still-in": "You are still signed in.",
  "signed-out": "Signed out: your link or token was revoked or has expired. Sign in again.",

  // The head of a page, and dialogs
  "times-in": "Times in {zone}",
  close: "Close",

  // Before a user's name, for screen readers
  "role-before": "{role}: ",

  // A button that copies a text
  copy: "Copy",
  copied: "Copied",
  "copy-refused": "Select and copy it",

  // Charts and their tables; {step} is such as "every 5 minutes"
  "chart-label": "{label}. {summary}",
  "show-table": "Show as table",
  "table-label": "Table: {label}",
  "table-caption": "{label}, {step}",
  "table-from": "From",
  unknown: "unknown",

  // The note about the database; {lead} is emphasised
  "database-failing-lead": "The database is failing",
  "database-failing": "{lead}. Moderation continues from memory.",
  "database-failing-detail": "{lead}: {detail}. Moderation continues from memory.",
  "database-limits": "Changed limits are in force but not saved: a restart now would undo them.",
  "database-off-lead": "Nothing is saved",
  "database-off": "{lead}: chatguard runs without a database. A restart resets everyone’s usage.",
  "database-since": "Failing for {time}.",
  "database-queued": { one: "{n} record pending.", other: "{n} records pending." },
  "database-dropped": { one: "{n} dropped: too many were pending.", other: "{n} dropped: too many were pending." },
  "database-lag": "A crash now would lose the last {time}.",

  // The note about the store that nodes share; {lead} is emphasised
  "shared-away-lead": "The shared store is away",
  "shared-away": "{lead}. Each node decides on its own; messages that pass count when it is back.",
  "shared-away-since": "{lead} since {time}. Each node decides on its own; messages that pass count when it is back.",
  "shared-refusing-lead": "The shared store refuses changes",
  "shared-refusing": "{lead}. Each node decides on its own; messages that pass count when it accepts changes again.",
};
