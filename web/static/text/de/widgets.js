// @ts-check
// Parts of all pages and of the Lab: the head of a page, notes, charts and dialogs. And what the
// page says if chatguard doesn't answer, or has ended the session.

export default {
  // Requests to chatguard, and the session
  "no-answer": "chatguard antwortet nicht. Prüfe, ob es läuft.",
  "failed-answer": "chatguard hat mit dem Status {status} geantwortet. Versuche es noch einmal.",
  "still-in": "Du bist noch angemeldet.",
  "signed-out": "Abgemeldet: Dein Link oder Token wurde widerrufen oder ist abgelaufen. Melde dich noch einmal an.",

  // The head of a page, and dialogs
  "times-in": "Zeiten in {zone}",
  close: "Schließen",

  // Before a user's name, for screen readers
  "role-before": "{role}: ",

  // A button that copies a text
  copy: "Kopieren",
  copied: "Kopiert",
  "copy-refused": "Markieren und kopieren",

  // Charts and their tables; {step} is such as "every 5 minutes"
  "chart-label": "{label}. {summary}",
  "show-table": "Als Tabelle zeigen",
  "table-label": "Tabelle: {label}",
  "table-caption": "{label}, {step}",
  "table-from": "Ab",
  unknown: "unbekannt",

  // The note about the database; {lead} is emphasised
  "database-failing-lead": "Die Datenbank ist gestört",
  "database-failing": "{lead}. Die Moderation läuft aus dem Arbeitsspeicher weiter.",
  "database-failing-detail": "{lead}: {detail}. Die Moderation läuft aus dem Arbeitsspeicher weiter.",
  "database-limits": "Geänderte Limits gelten, sind aber nicht gespeichert: Ein Neustart würde sie jetzt rückgängig machen.",
  "database-off-lead": "Nichts wird gespeichert",
  "database-off": "{lead}: chatguard läuft ohne Datenbank. Ein Neustart setzt den Verbrauch aller zurück.",
  "database-since": "Gestört seit {time}.",
  "database-queued": { one: "{n} Eintrag ausstehend.", other: "{n} Einträge ausstehend." },
  "database-dropped": { one: "{n} verworfen: Zu viele standen aus.", other: "{n} verworfen: Zu viele standen aus." },
  "database-lag": "Ein Absturz würde jetzt die letzten {time} kosten.",

  // The note about the store that nodes share; {lead} is emphasised
  "shared-away-lead": "Der gemeinsame Speicher ist weg",
  "shared-away": "{lead}. Jeder Knoten entscheidet für sich; was durchgeht, zählt, sobald er wieder da ist.",
  "shared-away-since": "{lead} seit {time}. Jeder Knoten entscheidet für sich; was durchgeht, zählt, sobald er wieder da ist.",
  "shared-refusing-lead": "Der gemeinsame Speicher lehnt Änderungen ab",
  "shared-refusing": "{lead}. Jeder Knoten entscheidet für sich; was durchgeht, zählt, sobald er Änderungen wieder annimmt.",
};
