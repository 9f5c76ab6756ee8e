// @ts-check
// The page for viewers: when they may write again, and why.

export default {
  title: "Tus mensajes en {channel}",
  "title-signed-out": "¿Cuándo puedes volver a escribir?",
  "sign-in-about": "Inicia sesión con Twitch para ver cuándo puedes volver a escribir y lo que te queda. Twitch solo dice quién eres, y no se guarda nada.",
  "sign-in": "Iniciar sesión con Twitch",
  "no-sign-in": "Aquí no está configurado el inicio de sesión con Twitch.",
  "sign-out": "Cerrar sesión",
  "signed-in-as": "Sesión de {name}",
  "nobody-else": "Solo tú ves esto. Las horas son de {zone}.",

  free: "Puedes escribir ya.",
  "again-in": "Podrás volver a escribir en",
  "again-at": "Es decir: {time}.",
  "again-at-said": "Podrás volver a escribir: {time}.",
  "timed-out": "Tienes un timeout hasta {time}.",
  banned: "Tienes un ban en este chat.",
  busy: "El chat está muy activo. Inténtalo de nuevo en un momento.",
  never: "El límite {limit} no te permite ningún mensaje, y esperar no ayuda.",

  "why-limit": "Has agotado el límite {limit}: {rule}",
  "rule-bucket": { one: "{n} mensaje de golpe, luego uno más cada {step}.", many: "{n} de mensajes de golpe, luego uno más cada {step}.", other: "{n} mensajes de golpe, luego uno más cada {step}." },
  "rule-day": { one: "{n} mensaje al día.", many: "{n} de mensajes al día.", other: "{n} mensajes al día." },
  "rule-window": { one: "{n} mensaje en {window}.", many: "{n} de mensajes en {window}.", other: "{n} mensajes en {window}." },
  "rule-cascade": "unos pocos mensajes de golpe, luego uno más de vez en cuando.",
  "why-busy": "Ahora escribe mucha gente, y todos comparten un límite.",
  "why-timeout": "Tras un timeout, Twitch no te deja escribir. Basta con esperar.",
  "why-ban": "Solo los moderadores del canal pueden quitar un ban.",

  exempt: "Aquí no tienes límites.",
  observing: "Ahora los límites solo se observan: no se frena a nadie.",
  raid: "El modo raid está activo hasta {time}. Los límites son más estrictos por un tiempo.",

  left: "Lo que te queda",
  "left-of": "quedan {n} de {capacity}",
  granted: { one: "incluye {n} mensaje extra", many: "incluye {n} de mensajes extra", other: "incluye {n} mensajes extra" },
  "full-again": "Completo otra vez: {time}",
  everywhere: "Cuenta en todos los canales juntos",

  away: "chatguard no responde. Reintentando.",
  "too-often": "Demasiadas peticiones. Reintentando en un momento.",
};
