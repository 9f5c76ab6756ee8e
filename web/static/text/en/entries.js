// @ts-check
// Entries of the journal: throttled messages, and how to pardon them.

export default {
  // The button in a row, and what it did
  pardon: "Pardon",
  "pardon-of": "Pardon this message from {who}",
  undo: "Undo",
  "undo-of": "Undo the pardon of this message from {who}",
  pardoned: "Pardoned",
  "pardoned-by": "by {by}, {time}",
  unsaved: "not saved yet",

  // The dialog with all details of an entry
  title: "Message from {who}",
  "no-text": "Text not stored.",
  sent: "Sent",
  user: "User",
  id: "ID {id}",
  "login-id": "{login}, ID {id}",
  limit: "Limit",
  "limit-cost": { one: "{limit}, cost {n}", other: "{limit}, cost {n}" },
  "may-write": "May write again",
  never: "never: the cost exceeds the limit",
  strikes: "Strikes",
  penalty: "Penalty",
  action: "Action",
};
