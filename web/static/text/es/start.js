// @ts-check
// The first evening: setting chatguard up, connecting the bot, and enforcing the limits.

export default {
  // The checklist: its head, the steps, and how far they are
  title: "Primeros pasos",
  "all-done": "Todo está configurado",
  count: "{done} de {all} hechos",
  hide: "Ocultar la lista",
  connect: "Conecta el bot",
  moderator: "Hazlo moderador",
  watch: "Mira qué pasaría",
  enforce: "Aplica los límites",
  todo: "pendiente",
  running: "en curso",
  done: "hecho",
  failed: "falló",

  // The checklist: connect the bot
  "connect-about": "Para leer el chat no hace falta ninguna cuenta. Para actuar sobre los mensajes, chatguard necesita una cuenta de Twitch que modere el canal.",
  "connect-it": "Conectar…",
  "connect-again": "Volver a conectar…",
  "connect-other": "Usar otra cuenta…",
  "ask-owner": "Pide al propietario de este panel que lo conecte.",
  checking: "Twitch está comprobando el token.",
  connected: "Conectado como {account}.",
  "connected-instead": "Conectado como {account}, en lugar de {replaced}.",

  // The checklist: make it a moderator
  "moderator-later": "Viene cuando el bot esté conectado.",
  "moderator-how": "Escribe esto en el chat del canal, como su propietario:",
  "copy-command": "Copiar el comando",
  "open-chat": "Abrir el chat",
  "moderator-soon": "chatguard lo detecta en unos segundos.",
  moderates: "{account} puede borrar mensajes y dar timeouts.",

  // The checklist: watch
  watching: { one: "Observando desde {time}: {n} mensaje.", many: "Observando desde {time}: {n} de mensajes.", other: "Observando desde {time}: {n} mensajes." },
  "watching-would": {
    one: "Observando desde {time}: {n} mensaje; se habrían frenado {observed}.",
    many: "Observando desde {time}: {n} de mensajes; se habrían frenado {observed}.",
    other: "Observando desde {time}: {n} mensajes; se habrían frenado {observed}.",
  },
  "see-limits": "Ver los límites",

  // The checklist: enforce
  "enforce-later": "Viene cuando el bot sea moderador. Hasta entonces no se frena a nadie.",
  observes: "Aún no se frena a nadie: chatguard solo observa.",
  "enforce-open": "Aplicar…",
  "enforce-question": "Desde ahora se borran los mensajes que superen los límites, y quien insista recibe una advertencia o un timeout. Puedes volver atrás en la página Límites. ¿Aplicar ya?",
  "enforce-it": "Aplicar",
  "not-yet": "Aún no",
  "enforced-said": "Los límites se aplican.",
  enforced: "Se actúa sobre los mensajes que superan los límites.",
  "enforced-later": "Activado. chatguard actuará en cuanto el bot sea moderador.",

  // The dialog that connects the bot
  asking: "Pidiendo un código a Twitch…",
  "new-code": "Pedir otro código",
  continue: "Continuar",
  "open-how": "Abre Twitch donde esté la sesión de la {account}, aquí o en un móvil con el código QR. Comprueba que muestre este código y autoriza.",
  "open-account": "cuenta del bot",
  "copy-code": "Copiar el código",
  "open-twitch": "Abrir Twitch",
  qr: "Código QR de la página en Twitch",
  waiting: "Esperando a Twitch. El código vale {time} más.",
  "bot-about": "La cuenta que autorices será el bot. La tuya también sirve: entonces nadie tiene que hacerla moderadora.",
  "wrong-account": "¿No es la cuenta correcta? Cierra sesión en Twitch, entra con la correcta y conecta otra vez.",
  "connect-another": "Conectar otra cuenta",

  // The guide to a client ID. Create, Manage and Client ID are words of a page that is in English.
  "client-about": "chatguard usa una aplicación de Twitch tuya. No cuesta nada, su ID no es secreto y solo la necesitas una vez.",
  "client-open": "Abre {page} en Twitch. Sirve cualquier cuenta tuya con autenticación en dos pasos.",
  "client-fill": "Rellena el formulario y pulsa Create:",
  "client-name": "uno que esté libre, como «chatguard de TUCANAL»",
  "copy-field": "Copiar {field}",
  "client-copy": "Pulsa Manage junto a su nombre y copia el Client ID.",
  "client-id": "Client ID",
  "wrong-client": "Un Client ID solo tiene letras y dígitos, normalmente 30. Cópialo otra vez.",

  // The setup page
  "first-about": "chatguard empieza observando tu canal. No se frena a nadie hasta que tú lo digas.",
  channel: "Canal de Twitch",
  "channel-hint": "tucanal o twitch.tv/tucanal",
  "wrong-channel": "Escribe el nombre del canal como en twitch.tv/nombre: hasta 25 letras, dígitos y _.",
  zone: "Zona horaria",
  "zone-about": "Los límites diarios se reinician allí a medianoche.",
  "wrong-zone": "Escribe una zona horaria, como Europe/Madrid.",
  application: "Aplicación de Twitch",
  "application-optional": "opcional, puede venir después",
  "application-about": "Para actuar sobre los mensajes, chatguard necesita el Client ID de una aplicación de Twitch tuya. No cuesta nada y no es secreto.",
  begin: "Empezar a observar",
  starting: "Empezando…",
  writes: "Esto escribe chatguard.toml en la carpeta en la que iniciaste chatguard.",
};
