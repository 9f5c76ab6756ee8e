// @ts-check
// Signing in with Twitch by a code to enter there.

export default {
  // The code, and what to do with it
  asking: "Pedindo um código à Twitch…",
  how: "Abra a Twitch, confira se ela mostra este código e autorize. O chatguard fica sabendo apenas quem você é e onde você modera.",
  "copy-code": "Copiar o código",
  open: "Abrir a Twitch",
  waiting: "Aguardando a Twitch. O código vale por mais {time}.",
  again: "Pedir um novo código",
  cancel: "Cancelar",
};
