// @ts-check
// The pages Journal and Audit.

export default {
  // Both pages: filters, the export, and older records
  user: "Name, Login oder ID",
  all: "alle",
  export: "Als CSV exportieren",
  time: "Zeit",
  "load-older": "Ältere laden",
  "no-older": "Keine älteren Einträge.",

  // The journal: filters and outcomes
  "filter-journal": "Das Journal filtern",
  result: "Ergebnis",
  "result-done": "erledigt",
  "result-failed": "fehlgeschlagen",
  "result-unknown": "unbekannt",
  "result-skipped": "übersprungen",
  "result-observed": "nur beobachtet",
  "result-pending": "ausstehend",
  "only-failures": "Nur Fehler",
  "one-message": "Eine einzelne Nachricht wird gezeigt.",
  "all-messages": "Alle Nachrichten zeigen",

  // The journal: its entries
  messages: "Gedrosselte Nachrichten, neueste zuerst",
  "show-new": { one: "{n} neue zeigen", other: "{n} neue zeigen" },
  "show-more-new": { one: "Mehr als {n} neue zeigen", other: "Mehr als {n} neue zeigen" },
  "no-messages": "Noch keine gedrosselten Nachrichten. Hier steht jede mit dem, was daraufhin geschah.",
  "no-message-matches": "Keine gedrosselten Nachrichten passen zu diesen Filtern.",

  // The audit. of-channel and of-all stand in the column of users.
  "filter-audit": "Das Audit filtern",
  author: "Von",
  details: "Details",
  changes: "Änderungen, neueste zuerst",
  "of-channel": "Kanal",
  "of-all": "alle Kanäle",
  "no-changes": "Noch keine Änderungen. Begnadigungen, geänderte Limits und Notizen stehen hier mit dem Namen dahinter.",
  "no-change-matches": "Keine Änderungen passen zu diesen Filtern.",
};
