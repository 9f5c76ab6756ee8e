// @ts-check
// Parts of all pages and of the Lab: the head of a page, notes, charts and dialogs. And what the
// page says if chatguard doesn't answer, or has ended the session.

export default {
  // Requests to chatguard, and the session
  "no-answer": "chatguard no responde. Comprueba que esté en marcha.",
  "failed-answer": "chatguard respondió con el estado {status}. Inténtalo de nuevo.",
  "still-in": "Tu sesión sigue abierta.",
  "signed-out": "Sesión cerrada: tu enlace o token se revocó o ha caducado. Vuelve a iniciar sesión.",

  // The head of a page, and dialogs
  "times-in": "Horas en {zone}",
  close: "Cerrar",

  // Before a user's name, for screen readers
  "role-before": "{role}: ",

  // A button that copies a text
  copy: "Copiar",
  copied: "Copiado",
  "copy-refused": "Selecciona y copia",

  // Charts and their tables; {step} is such as "every 5 minutes"
  "chart-label": "{label}. {summary}",
  "show-table": "Mostrar como tabla",
  "table-label": "Tabla: {label}",
  "table-caption": "{label}, {step}",
  "table-from": "Desde",
  unknown: "desconocido",

  // The note about the database; {lead} is emphasised
  "database-failing-lead": "La base de datos falla",
  "database-failing": "{lead}. La moderación sigue desde la memoria.",
  "database-failing-detail": "{lead}: {detail}. La moderación sigue desde la memoria.",
  "database-limits": "Los límites cambiados están en vigor, pero sin guardar: si chatguard se reinicia ahora, se perderán.",
  "database-off-lead": "No se guarda nada",
  "database-off": "{lead}: chatguard funciona sin base de datos. Si se reinicia, el consumo de todos vuelve a cero.",
  "database-since": "Falla desde hace {time}.",
  "database-queued": { one: "{n} entrada pendiente.", many: "{n} de entradas pendientes.", other: "{n} entradas pendientes." },
  "database-dropped": { one: "{n} descartada: había demasiadas pendientes.", many: "{n} descartadas: había demasiadas pendientes.", other: "{n} descartadas: había demasiadas pendientes." },
  "database-lag": "Si chatguard se cae ahora, se perderá lo de {time}.",

  // The note about the store that nodes share; {lead} is emphasised
  "shared-away-lead": "El almacén compartido no responde",
  "shared-away": "{lead}. Cada nodo decide por su cuenta; los mensajes que pasen contarán cuando vuelva.",
  "shared-away-since": "{lead} desde hace {time}. Cada nodo decide por su cuenta; los mensajes que pasen contarán cuando vuelva.",
  "shared-refusing-lead": "El almacén compartido rechaza cambios",
  "shared-refusing": "{lead}. Cada nodo decide por su cuenta; los mensajes que pasen contarán cuando vuelva a aceptarlos.",
};
