// @ts-check
// The page for viewers: when they may write again, and why.

export default {
  title: "Suas mensagens em {channel}",
  "title-signed-out": "Quando você pode escrever de novo?",
  "sign-in-about": "Entre com a Twitch para ver quando você pode escrever de novo e o que resta para você. A Twitch só informa quem você é, e nada é guardado.",
  "sign-in": "Entrar com a Twitch",
  "no-sign-in": "Entrar com a Twitch não está configurado aqui.",
  "sign-out": "Sair",
  "signed-in-as": "Conectado como {name}",
  "nobody-else": "Só você vê isto. Horários em {zone}.",

  free: "Você pode escrever agora.",
  "again-in": "Você pode escrever de novo em",
  "again-at": "Isso é às {time}.",
  "again-at-said": "Você pode escrever de novo às {time}.",
  "timed-out": "Você está suspenso até {time}.",
  banned: "Você está banido deste chat.",
  busy: "O chat está cheio. Tente de novo daqui a pouco.",
  never: "O limite {limit} não permite nenhuma mensagem sua, e esperar não adianta.",

  "why-limit": "Você esgotou o limite {limit}: {rule}",
  "rule-bucket": {
    one: "{n} mensagem de uma vez, depois mais uma a cada {step}.",
    many: "{n} mensagens de uma vez, depois mais uma a cada {step}.",
    other: "{n} mensagens de uma vez, depois mais uma a cada {step}.",
  },
  "rule-day": { one: "{n} mensagem por dia.", many: "{n} mensagens por dia.", other: "{n} mensagens por dia." },
  "rule-window": { one: "{n} mensagem em {window}.", many: "{n} mensagens em {window}.", other: "{n} mensagens em {window}." },
  "rule-cascade": "algumas mensagens de uma vez, depois mais uma de vez em quando.",
  "why-busy": "Muita gente está escrevendo agora e compartilha um limite.",
  "why-timeout": "Depois de uma suspensão, a Twitch não deixa você escrever. Basta esperar.",
  "why-ban": "Só os moderadores do canal podem remover um banimento.",

  exempt: "Nenhum limite vale para você aqui.",
  observing: "No momento os limites só são observados: ninguém é barrado.",
  raid: "O modo raid está ligado até {time}. Os limites ficam mais rígidos por um tempo.",

  left: "O que resta para você",
  "left-of": "restam {n} de {capacity}",
  granted: { one: "{n} mensagem extra incluída", many: "{n} mensagens extras incluídas", other: "{n} mensagens extras incluídas" },
  "full-again": "Completo de novo às {time}",
  everywhere: "Conta em todos os canais juntos",

  away: "O chatguard não responde. Tentando de novo.",
  "too-often": "Pedidos demais. Tentando de novo daqui a pouco.",
};
