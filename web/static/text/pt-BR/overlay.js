// @ts-check
// The overlay for streams.

export default {
  throttled: { one: "{n} limitado", many: "{n} limitados", other: "{n} limitados" },
  "would-be": { one: "{n} seria limitado", many: "{n} seriam limitados", other: "{n} seriam limitados" },
  paused: "Em pausa",
  "raid-left": "Modo raid {left}",

  wrong: "{name}={value} não pode ser usado: {wanted}",
  "wrong-unknown": "Não existe a opção {name}. As opções são {names}.",
  "wanted-number": "use um número de {least} a {most}.",
  "wanted-color": "use uma cor como ffffff, ou com opacidade 00000080.",
  "wanted-color-or-none": "use uma cor como ffffff, com opacidade como 00000080, ou none.",
  "wanted-choice": "use uma destas opções: {choices}.",
  "wanted-choices": "use algumas de {choices}, separadas por vírgulas.",
  "wanted-ids": "use até {most} IDs de usuário, separados por vírgulas.",

  "no-token": "O endereço não tem token. A página Admin cria um endereço com token.",
  revoked: "O token foi revogado ou expirou. A página Admin cria um novo endereço.",
  forbidden: "Este token não pode ser usado para o overlay deste canal.",
  "no-channel": "Este canal não é atendido aqui.",
};
