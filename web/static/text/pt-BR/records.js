// @ts-check
// The pages Journal and Audit.

export default {
  // Both pages: filters, the export, and older records
  user: "Usuário (nome, login ou ID)",
  all: "todos",
  export: "Exportar como CSV",
  time: "Hora",
  "load-older": "Carregar anteriores",
  "no-older": "Não há registros anteriores.",

  // The journal: filters and outcomes
  "filter-journal": "Filtrar o diário",
  result: "Resultado",
  "result-done": "feito",
  "result-failed": "falhou",
  "result-unknown": "desconhecido",
  "result-skipped": "omitido",
  "result-observed": "só observado",
  "result-pending": "pendente",
  "only-failures": "Só falhas",
  "one-message": "Uma única mensagem está sendo mostrada.",
  "all-messages": "Mostrar todas as mensagens",

  // The journal: its entries
  messages: "Mensagens limitadas, das mais recentes às mais antigas",
  "show-new": { one: "Mostrar {n} nova", many: "Mostrar {n} novas", other: "Mostrar {n} novas" },
  "show-more-new": { one: "Mostrar mais de {n} nova", many: "Mostrar mais de {n} novas", other: "Mostrar mais de {n} novas" },
  "no-messages": "Ainda não há mensagens limitadas. Cada uma aparece aqui com o que foi feito.",
  "no-message-matches": "Nenhuma mensagem limitada corresponde a estes filtros.",

  // The audit. of-channel and of-all stand in the column of users.
  "filter-audit": "Filtrar a auditoria",
  author: "Autor",
  details: "Detalhes",
  changes: "Mudanças, das mais recentes às mais antigas",
  "of-channel": "canal",
  "of-all": "todos os canais",
  "no-changes": "Ainda não há mudanças. Perdões, limites alterados e notas aparecem aqui com o autor.",
  "no-change-matches": "Nenhuma mudança corresponde a estes filtros.",
};
