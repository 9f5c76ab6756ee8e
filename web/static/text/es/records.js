// @ts-check
// The pages Journal and Audit.

export default {
  // Both pages: filters, the export, and older records
  user: "Usuario (nombre, login o ID)",
  all: "todos",
  export: "Exportar CSV",
  time: "Hora",
  "load-older": "Cargar anteriores",
  "no-older": "No hay entradas anteriores.",

  // The journal: filters and outcomes
  "filter-journal": "Filtrar el registro",
  result: "Resultado",
  "result-done": "hecho",
  "result-failed": "falló",
  "result-unknown": "desconocido",
  "result-skipped": "omitido",
  "result-observed": "solo observado",
  "result-pending": "pendiente",
  "only-failures": "Solo fallos",
  "one-message": "Se muestra un solo mensaje.",
  "all-messages": "Mostrar todos los mensajes",

  // The journal: its entries
  messages: "Mensajes frenados, los más recientes primero",
  "show-new": { one: "Mostrar {n} nuevo", many: "Mostrar {n} nuevos", other: "Mostrar {n} nuevos" },
  "show-more-new": { one: "Mostrar más de {n} nuevo", many: "Mostrar más de {n} nuevos", other: "Mostrar más de {n} nuevos" },
  "no-messages": "Aún no hay mensajes frenados. Aquí aparecerá cada uno con lo que se hizo.",
  "no-message-matches": "Ningún mensaje frenado coincide con estos filtros.",

  // The audit. of-channel and of-all stand in the column of users.
  "filter-audit": "Filtrar la auditoría",
  author: "Autor",
  details: "Detalles",
  changes: "Cambios, los más recientes primero",
  "of-channel": "canal",
  "of-all": "todos los canales",
  "no-changes": "Aún no hay cambios. Aquí aparecerán los perdones, los cambios de límites y las notas con su autor.",
  "no-change-matches": "Ningún cambio coincide con estos filtros.",
};
