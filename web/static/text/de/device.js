// @ts-check
// Signing in with Twitch by a code to enter there.

export default {
  // The code, and what to do with it
  asking: "Twitch wird nach einem Code gefragt …",
  how: "Öffne Twitch, prüfe, ob dort dieser Code steht, und autorisiere. chatguard erfährt nur, wer du bist und wo du moderierst.",
  "copy-code": "Code kopieren",
  open: "Twitch öffnen",
  waiting: "Warten auf Twitch. Der Code gilt noch {time}.",
  again: "Neuen Code holen",
  cancel: "Abbrechen",
};
