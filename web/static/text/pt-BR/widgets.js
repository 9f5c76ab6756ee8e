// @ts-check
// Parts of all pages and of the Lab: the head of a page, notes, charts and dialogs. And what the
// page says if chatguard doesn't answer, or has ended the session.

export default {
  // Requests to chatguard, and the session
  "no-answer": "O chatguard não responde. Verifique se ele está rodando.",
  "failed-answer": "O chatguard respondeu com o status {status}. Tente de novo.",
  "still-in": "Sua sessão continua aberta.",
  "signed-out": "Sessão encerrada: seu link ou token foi revogado ou expirou. Entre de novo.",

  // The head of a page, and dialogs
  "times-in": "Horários em {zone}",
  close: "Fechar",

  // Before a user's name, for screen readers
  "role-before": "{role}: ",

  // A button that copies a text
  copy: "Copiar",
  copied: "Copiado",
  "copy-refused": "Selecione e copie",

  // Charts and their tables; {step} is such as "every 5 minutes"
  "chart-label": "{label}. {summary}",
  "show-table": "Mostrar como tabela",
  "table-label": "Tabela: {label}",
  "table-caption": "{label}, {step}",
  "table-from": "Desde",
  unknown: "desconhecido",

  // The note about the database; {lead} is emphasised
  "database-failing-lead": "O banco de dados está falhando",
  "database-failing": "{lead}. A moderação continua pela memória.",
  "database-failing-detail": "{lead}: {detail}. A moderação continua pela memória.",
  "database-limits": "Os limites alterados estão em vigor, mas não salvos: um reinício agora os desfaria.",
  "database-off-lead": "Nada é salvo",
  "database-off": "{lead}: o chatguard roda sem banco de dados. Um reinício zera o uso de todos.",
  "database-since": "Falhando há {time}.",
  "database-queued": { one: "{n} registro pendente.", many: "{n} registros pendentes.", other: "{n} registros pendentes." },
  "database-dropped": { one: "{n} descartado: havia pendentes demais.", many: "{n} descartados: havia pendentes demais.", other: "{n} descartados: havia pendentes demais." },
  "database-lag": "Uma queda agora perderia os últimos {time}.",

  // The note about the store that nodes share; {lead} is emphasised
  "shared-away-lead": "O armazenamento compartilhado está fora do ar",
  "shared-away": "{lead}. Cada nó decide sozinho; as mensagens que passam contam quando ele voltar.",
  "shared-away-since": "{lead} desde {time}. Cada nó decide sozinho; as mensagens que passam contam quando ele voltar.",
  "shared-refusing-lead": "O armazenamento compartilhado recusa mudanças",
  "shared-refusing": "{lead}. Cada nó decide sozinho; as mensagens que passam contam quando ele aceitar mudanças de novo.",
};
