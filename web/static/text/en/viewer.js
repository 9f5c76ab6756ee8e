// @ts-check
// The page for viewers: when they may write again, and why.

export default {
  title: "Your messages in {channel}",
  "title-signed-out": "When may you write again?",
  "sign-in-about": "Sign in with Twitch to see when you may write again, and what is left for you. Twitch only tells who you are, and nothing is stored.",
  "sign-in": "Sign in with Twitch",
  "no-sign-in": "Signing in with Twitch isn’t set up here.",
  "sign-out": "Sign out",
  "signed-in-as": "Signed in as {name}",
  "nobody-else": "Only you see this. Times are in {zone}.",

  free: "You may write now.",
  "again-in": "You may write again in",
  "again-at": "That is at {time}.",
  "again-at-said": "You may write again at {time}.",
  "timed-out": "You are timed out until {time}.",
  banned: "You are banned from this chat.",
  busy: "The chat is busy. Try again in a moment.",
  never: "The limit {limit} allows you no messages, and waiting doesn’t help.",

  "why-limit": "You have used up the limit {limit}: {rule}",
  "rule-bucket": { one: "{n} message at once, then one more every {step}.", other: "{n} messages at once, then one more every {step}." },
  "rule-day": { one: "{n} message a day.", other: "{n} messages a day." },
  "rule-window": { one: "{n} message in {window}.", other: "{n} messages in {window}." },
  "rule-cascade": "a few messages at once, then one more from time to time.",
  "why-busy": "Many people write at the moment, and they share a limit.",
  "why-timeout": "After a timeout, Twitch doesn’t let you write. Waiting is enough.",
  "why-ban": "Only the channel’s moderators can lift a ban.",

  exempt: "No limits apply to you here.",
  observing: "The limits are only watched at the moment: nobody is held back.",
  raid: "Raid mode is on until {time}. The limits are tighter for a while.",

  left: "What is left for you",
  "left-of": "{n} of {capacity} left",
  granted: { one: "{n} extra message included", other: "{n} extra messages included" },
  "full-again": "Full again at {time}",
  everywhere: "Counts in all channels together",

  away: "chatguard doesn’t answer. Trying again.",
  "too-often": "Too many requests. Trying again in a moment.",
};
