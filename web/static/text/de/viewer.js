// @ts-check
// The page for viewers: when they may write again, and why.

export default {
  title: "Deine Nachrichten in {channel}",
  "title-signed-out": "Wann darfst du wieder schreiben?",
  "sign-in-about": "Melde dich mit Twitch an, um zu sehen, wann du wieder schreiben darfst und was dir noch bleibt. Twitch sagt nur, wer du bist, und nichts wird gespeichert.",
  "sign-in": "Mit Twitch anmelden",
  "no-sign-in": "Die Anmeldung mit Twitch ist hier nicht eingerichtet.",
  "sign-out": "Abmelden",
  "signed-in-as": "Angemeldet als {name}",
  "nobody-else": "Nur du siehst das. Zeiten in {zone}.",

  free: "Du darfst jetzt schreiben.",
  "again-in": "Du darfst wieder schreiben in",
  "again-at": "Uhrzeit: {time}.",
  "again-at-said": "Du darfst wieder schreiben ab {time}.",
  "timed-out": "Du bist im Timeout bis {time}.",
  banned: "Du bist aus diesem Chat gebannt.",
  busy: "Im Chat ist viel los. Versuche es gleich noch einmal.",
  never: "Das Limit {limit} lässt dir keine Nachrichten, und Warten hilft nicht.",

  "why-limit": "Du hast das Limit {limit} aufgebraucht: {rule}",
  "rule-bucket": { one: "{n} Nachricht auf einmal, dann eine weitere alle {step}.", other: "{n} Nachrichten auf einmal, dann eine weitere alle {step}." },
  "rule-day": { one: "{n} Nachricht am Tag.", other: "{n} Nachrichten am Tag." },
  "rule-window": { one: "{n} Nachricht je {window}.", other: "{n} Nachrichten je {window}." },
  "rule-cascade": "ein paar Nachrichten auf einmal, dann ab und zu eine weitere.",
  "why-busy": "Gerade schreiben viele, und sie teilen sich ein Limit.",
  "why-timeout": "Nach einem Timeout lässt Twitch dich nicht schreiben. Warten genügt.",
  "why-ban": "Nur die Moderation des Kanals kann einen Bann aufheben.",

  exempt: "Für dich gelten hier keine Limits.",
  observing: "Die Limits werden gerade nur beobachtet: Niemand wird gedrosselt.",
  raid: "Der Raid-Modus läuft bis {time}. Die Limits sind eine Zeit lang strenger.",

  left: "Was dir noch bleibt",
  "left-of": "{n} von {capacity} übrig",
  granted: { one: "davon {n} gutgeschrieben", other: "davon {n} gutgeschrieben" },
  "full-again": "Wieder voll: {time}",
  everywhere: "Zählt in allen Kanälen zusammen",

  away: "chatguard antwortet nicht. Es wird weiter versucht.",
  "too-often": "Zu viele Anfragen. Gleich wird es noch einmal versucht.",
};
