// @ts-check
// The overlay for streams.

export default {
  throttled: { one: "{n} gedrosselt", other: "{n} gedrosselt" },
  "would-be": { one: "{n} wäre gedrosselt", other: "{n} wären gedrosselt" },
  paused: "Pausiert",
  "raid-left": "Raid {left}",

  wrong: "{name}={value} geht nicht: {wanted}",
  "wrong-unknown": "Es gibt keine Einstellung {name}. Die Einstellungen sind {names}.",
  "wanted-number": "Nimm eine Zahl von {least} bis {most}.",
  "wanted-color": "Nimm eine Farbe wie ffffff, oder mit Deckkraft wie 00000080.",
  "wanted-color-or-none": "Nimm eine Farbe wie ffffff, mit Deckkraft wie 00000080, oder none.",
  "wanted-choice": "Nimm eines von {choices}.",
  "wanted-choices": "Nimm einige von {choices}, mit Kommas dazwischen.",
  "wanted-ids": "Nimm bis zu {most} User-IDs, mit Kommas dazwischen.",

  "no-token": "Die Adresse hat kein Token. Die Seite Admin erzeugt eine Adresse mit Token.",
  revoked: "Das Token wurde widerrufen oder ist abgelaufen. Die Seite Admin erzeugt eine neue Adresse.",
  forbidden: "Dieses Token gilt nicht für das Overlay dieses Kanals.",
  "no-channel": "Dieser Kanal wird hier nicht bedient.",
};
