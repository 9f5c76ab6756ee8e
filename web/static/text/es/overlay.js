// @ts-check
// The overlay for streams.

export default {
  throttled: { one: "{n} frenado", many: "{n} frenados", other: "{n} frenados" },
  "would-be": { one: "{n} se frenaría", many: "{n} se frenarían", other: "{n} se frenarían" },
  paused: "En pausa",
  "raid-left": "Raid {left}",

  wrong: "{name}={value} no vale: {wanted}",
  "wrong-unknown": "No existe el ajuste {name}. Los ajustes son {names}.",
  "wanted-number": "usa un número de {least} a {most}.",
  "wanted-color": "usa un color como ffffff, o con su opacidad, 00000080.",
  "wanted-color-or-none": "usa un color como ffffff, con su opacidad como 00000080, o none.",
  "wanted-choice": "usa uno de {choices}.",
  "wanted-choices": "usa algunos de {choices}, separados por comas.",
  "wanted-ids": "usa hasta {most} ID de usuario, separados por comas.",

  "no-token": "La dirección no tiene token. La página Admin crea una dirección con token.",
  revoked: "El token se revocó o ha caducado. La página Admin crea una dirección nueva.",
  forbidden: "Este token no sirve para el overlay de este canal.",
  "no-channel": "Este canal no se atiende aquí.",
};
