// @ts-check
// The pages Journal and Audit.

export default {
  // Both pages: filters, the export, and older records
  user: "User (name, login or ID)",
  all: "all",
  export: "Export as CSV",
  time: "Time",
  "load-older": "Load older",
  "no-older": "No older records.",

  // The journal: filters and outcomes
  "filter-journal": "Filter the journal",
  result: "Outcome",
  "result-done": "done",
  "result-failed": "failed",
  "result-unknown": "unknown",
  "result-skipped": "skipped",
  "result-observed": "observed only",
  "result-pending": "pending",
  "only-failures": "Only failures",
  "one-message": "A single message is shown.",
  "all-messages": "Show all messages",

  // The journal: its entries
  messages: "Throttled messages, newest first",
  "show-new": { one: "Show {n} new", other: "Show {n} new" },
  "show-more-new": { one: "Show more than {n} new", other: "Show more than {n} new" },
  "no-messages": "No throttled messages yet. Each one is listed here with what was done about it.",
  "no-message-matches": "No throttled messages match these filters.",

  // The audit. of-channel and of-all stand in the column of users.
  "filter-audit": "Filter the audit",
  author: "Author",
  details: "Details",
  changes: "Changes, newest first",
  "of-channel": "channel",
  "of-all": "all channels",
  "no-changes": "No changes yet. Pardons, changed limits and notes are listed here with their author.",
  "no-change-matches": "No changes match these filters.",
};
