// @ts-check
// Entries of the journal: throttled messages, and how to pardon them.

export default {
  // The button in a row, and what it did
  pardon: "Perdonar",
  "pardon-of": "Perdonar este mensaje de {who}",
  undo: "Deshacer",
  "undo-of": "Deshacer el perdón de este mensaje de {who}",
  pardoned: "Perdonado",
  "pardoned-by": "por {by}, {time}",
  unsaved: "aún sin guardar",

  // The dialog with all details of an entry
  title: "Mensaje de {who}",
  "no-text": "Texto no guardado.",
  sent: "Enviado",
  user: "Usuario",
  id: "ID {id}",
  "login-id": "{login}, ID {id}",
  limit: "Límite",
  "limit-cost": { one: "{limit}, coste {n}", many: "{limit}, coste {n}", other: "{limit}, coste {n}" },
  "may-write": "Vuelve a escribir",
  never: "nunca: el coste supera el límite",
  strikes: "Strikes",
  penalty: "Sanción",
  action: "Acción",
};
