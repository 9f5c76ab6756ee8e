// @ts-check
// The overlay for streams.

export default {
  throttled: { one: "{n} throttled", other: "{n} throttled" },
  "would-be": { one: "{n} would be throttled", other: "{n} would be throttled" },
  paused: "Paused",
  "raid-left": "Raid mode {left}",

  wrong: "{name}={value} can’t be used: {wanted}",
  "wrong-unknown": "There is no setting {name}. The settings are {names}.",
  "wanted-number": "use a number from {least} to {most}.",
  "wanted-color": "use a color such as ffffff, or with its opacity 00000080.",
  "wanted-color-or-none": "use a color such as ffffff, with its opacity such as 00000080, or none.",
  "wanted-choice": "use one of {choices}.",
  "wanted-choices": "use some of {choices}, with commas between them.",
  "wanted-ids": "use up to {most} user IDs, with commas between them.",

  "no-token": "The address has no token. The page Admin makes an address with one.",
  revoked: "The token was revoked or has expired. The page Admin makes a new address.",
  forbidden: "This token can’t be used for the overlay of this channel.",
  "no-channel": "This channel isn’t served here.",
};
