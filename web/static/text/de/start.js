// @ts-check
// The first evening: setting chatguard up, connecting the bot, and enforcing the limits.

export default {
  // The checklist: its head, the steps, and how far they are
  title: "Erste Schritte",
  "all-done": "Alles ist eingerichtet",
  count: "{done} von {all} erledigt",
  hide: "Checkliste ausblenden",
  connect: "Den Bot verbinden",
  moderator: "Zum Moderator machen",
  watch: "Beobachten, was passieren würde",
  enforce: "Die Limits durchsetzen",
  todo: "offen",
  running: "läuft",
  done: "erledigt",
  failed: "fehlgeschlagen",

  // The checklist: connect the bot
  "connect-about": "Um den Chat zu lesen, braucht es kein Konto. Um auf Nachrichten zu reagieren, braucht chatguard ein Twitch-Konto, das den Kanal moderiert.",
  "connect-it": "Verbinden …",
  "connect-again": "Neu verbinden …",
  "connect-other": "Anderes Konto verwenden …",
  "ask-owner": "Die Leitung dieses Dashboards kann ihn verbinden.",
  checking: "Twitch prüft das Token.",
  connected: "Verbunden als {account}.",
  "connected-instead": "Verbunden als {account}, anstelle von {replaced}.",

  // The checklist: make it a moderator
  "moderator-later": "Folgt, sobald der Bot verbunden ist.",
  "moderator-how": "Gib das im Chat des Kanals ein, als Broadcaster:",
  "copy-command": "Befehl kopieren",
  "open-chat": "Chat öffnen",
  "moderator-soon": "chatguard bemerkt es innerhalb von Sekunden.",
  moderates: "{account} darf Nachrichten löschen und Timeouts geben.",

  // The checklist: watch
  watching: { one: "Beobachtet seit {time}: {n} Nachricht.", other: "Beobachtet seit {time}: {n} Nachrichten." },
  "watching-would": {
    one: "Beobachtet seit {time}: {n} Nachricht, davon {observed} über den Limits.",
    other: "Beobachtet seit {time}: {n} Nachrichten, davon {observed} über den Limits.",
  },
  "see-limits": "Limits ansehen",

  // The checklist: enforce
  "enforce-later": "Folgt, sobald der Bot Moderator ist. Bis dahin wird niemand gedrosselt.",
  observes: "Noch wird niemand gedrosselt: chatguard beobachtet nur.",
  "enforce-open": "Durchsetzen …",
  "enforce-question": "Ab jetzt werden Nachrichten über den Limits gelöscht; wer es wiederholt, bekommt eine Verwarnung oder einen Timeout. Auf der Seite Limits kannst du zurückschalten. Jetzt durchsetzen?",
  "enforce-it": "Durchsetzen",
  "not-yet": "Noch nicht",
  "enforced-said": "Die Limits werden durchgesetzt.",
  enforced: "Auf Nachrichten über den Limits wird reagiert.",
  "enforced-later": "An. chatguard handelt, sobald der Bot Moderator ist.",

  // The dialog that connects the bot
  asking: "Twitch wird nach einem Code gefragt …",
  "new-code": "Neuen Code holen",
  continue: "Weiter",
  "open-how": "Öffne Twitch dort, wo du mit dem {account} angemeldet bist, hier oder über den QR-Code auf einem Handy. Prüfe, ob dort dieser Code steht, und autorisiere.",
  "open-account": "Konto des Bots",
  "copy-code": "Code kopieren",
  "open-twitch": "Twitch öffnen",
  qr: "QR-Code der Seite auf Twitch",
  waiting: "Warten auf Twitch. Der Code gilt noch {time}.",
  "bot-about": "Das Konto, das du autorisierst, wird der Bot. Dein eigenes geht auch: Dann muss niemand es zum Moderator machen.",
  "wrong-account": "Das falsche Konto? Melde dich auf Twitch ab, melde dich dort mit dem richtigen an und verbinde neu.",
  "connect-another": "Anderes Konto verbinden",

  // The guide to a client ID. Create, Manage and Client ID are words of a page that is in English.
  "client-about": "chatguard benutzt eine Twitch-Anwendung, die dir gehört. Sie kostet nichts, ihre ID ist kein Geheimnis, und du brauchst sie nur einmal.",
  "client-open": "Öffne {page} auf Twitch. Jedes deiner Konten ist recht, wenn es Zwei-Faktor-Authentifizierung hat.",
  "client-fill": "Fülle das Formular aus und drücke dann Create:",
  "client-name": "ein beliebiger freier, etwa „chatguard von DEINKANAL“",
  "copy-field": "{field} kopieren",
  "client-copy": "Drücke Manage neben dem Namen und kopiere die Client ID.",
  "client-id": "Client ID",
  "wrong-client": "Eine Client ID besteht nur aus Buchstaben und Ziffern, meist 30. Kopiere sie noch einmal.",

  // The setup page
  "first-about": "chatguard beobachtet deinen Kanal zunächst nur. Niemand wird gedrosselt, bis du es sagst.",
  channel: "Twitch-Kanal",
  "channel-hint": "deinkanal oder twitch.tv/deinkanal",
  "wrong-channel": "Gib den Namen des Kanals ein wie in twitch.tv/name: bis zu 25 Buchstaben, Ziffern und _.",
  zone: "Zeitzone",
  "zone-about": "Tageslimits beginnen dort um Mitternacht neu.",
  "wrong-zone": "Gib eine Zeitzone ein, etwa Europe/Berlin.",
  application: "Twitch-Anwendung",
  "application-optional": "freiwillig, geht auch später",
  "application-about": "Um auf Nachrichten zu reagieren, braucht chatguard die Client ID einer Twitch-Anwendung, die dir gehört. Sie kostet nichts und ist kein Geheimnis.",
  begin: "Beobachten starten",
  starting: "Startet …",
  writes: "Das schreibt chatguard.toml in den Ordner, in dem du chatguard gestartet hast.",
};
