// @ts-check
// Entries of the journal: throttled messages, and how to pardon them.

export default {
  // The button in a row, and what it did
  pardon: "Begnadigen",
  "pardon-of": "Diese Nachricht von {who} begnadigen",
  undo: "Rückgängig",
  "undo-of": "Begnadigung dieser Nachricht von {who} zurücknehmen",
  pardoned: "Begnadigt",
  "pardoned-by": "von {by}, {time}",
  unsaved: "noch nicht gespeichert",

  // The dialog with all details of an entry
  title: "Nachricht von {who}",
  "no-text": "Text nicht gespeichert.",
  sent: "Gesendet",
  user: "Person",
  id: "ID {id}",
  "login-id": "{login}, ID {id}",
  limit: "Limit",
  "limit-cost": { one: "{limit}, Kosten {n}", other: "{limit}, Kosten {n}" },
  "may-write": "Darf wieder schreiben",
  never: "nie: Die Kosten übersteigen das Limit",
  strikes: "Strikes",
  penalty: "Strafe",
  action: "Aktion",
};
