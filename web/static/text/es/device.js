// @ts-check
// Signing in with Twitch by a code to enter there.

export default {
  // The code, and what to do with it
  asking: "Pidiendo un código a Twitch…",
  how: "Abre Twitch, comprueba que muestre este código y autoriza. chatguard solo sabrá quién eres y dónde moderas.",
  "copy-code": "Copiar el código",
  open: "Abrir Twitch",
  waiting: "Esperando a Twitch. El código vale {time} más.",
  again: "Pedir otro código",
  cancel: "Cancelar",
};
