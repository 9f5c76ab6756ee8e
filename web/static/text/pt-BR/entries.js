// @ts-check
// Entries of the journal: throttled messages, and how to pardon them.

export default {
  // The button in a row, and what it did
  pardon: "Perdoar",
  "pardon-of": "Perdoar esta mensagem de {who}",
  undo: "Desfazer",
  "undo-of": "Desfazer o perdão desta mensagem de {who}",
  pardoned: "Perdoada",
  "pardoned-by": "por {by}, {time}",
  unsaved: "ainda não salvo",

  // The dialog with all details of an entry
  title: "Mensagem de {who}",
  "no-text": "Texto não guardado.",
  sent: "Enviada",
  user: "Usuário",
  id: "ID {id}",
  "login-id": "{login}, ID {id}",
  limit: "Limite",
  "limit-cost": { one: "{limit}, custo {n}", many: "{limit}, custo {n}", other: "{limit}, custo {n}" },
  "may-write": "Pode escrever de novo",
  never: "nunca: o custo excede o limite",
  strikes: "Strikes",
  penalty: "Punição",
  action: "Ação",
};
