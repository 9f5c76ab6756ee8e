// @ts-check
// The first evening: setting chatguard up, connecting the bot, and enforcing the limits.

export default {
  // The checklist: its head, the steps, and how far they are
  title: "Get started",
  "all-done": "Everything is set up",
  count: "{done} of {all} done",
  hide: "Hide the checklist",
  connect: "Connect the bot",
  moderator: "Make it a moderator",
  watch: "Watch what would happen",
  enforce: "Enforce the limits",
  todo: "to do",
  running: "in progress",
  done: "done",
  failed: "failed",

  // The checklist: connect the bot
  "connect-about": "Reading chat needs no account. To act on messages, chatguard needs a Twitch account that moderates the channel.",
  "connect-it": "Connect…",
  "connect-again": "Connect again…",
  "connect-other": "Use another account…",
  "ask-owner": "Ask the owner of this dashboard to connect it.",
  checking: "Twitch is checking the token.",
  connected: "Connected as {account}.",
  "connected-instead": "Connected as {account}, instead of {replaced}.",

  // The checklist: make it a moderator
  "moderator-later": "Follows once the bot is connected.",
  "moderator-how": "Type this in the channel’s chat, as its owner:",
  "copy-command": "Copy the command",
  "open-chat": "Open chat",
  "moderator-soon": "chatguard notices it within seconds.",
  moderates: "{account} may delete messages and time users out.",

  // The checklist: watch
  watching: { one: "Watching since {time}: {n} message.", other: "Watching since {time}: {n} messages." },
  "watching-would": {
    one: "Watching since {time}: {n} message, {observed} would have been throttled.",
    other: "Watching since {time}: {n} messages, {observed} would have been throttled.",
  },
  "see-limits": "See the limits",

  // The checklist: enforce
  "enforce-later": "Follows once the bot is a moderator. Until then nobody is throttled.",
  observes: "Nobody is throttled yet: chatguard only observes.",
  "enforce-open": "Enforce…",
  "enforce-question": "From now on, messages beyond the limits are deleted, and repeat offenders are warned or timed out. You can switch back on the page Limits. Enforce now?",
  "enforce-it": "Enforce",
  "not-yet": "Not yet",
  "enforced-said": "The limits are enforced.",
  enforced: "Messages beyond the limits are acted on.",
  "enforced-later": "On. chatguard acts as soon as the bot is a moderator.",

  // The dialog that connects the bot
  asking: "Asking Twitch for a code…",
  "new-code": "Get a new code",
  continue: "Continue",
  "open-how": "Open Twitch where the {account} is signed in, here or by the QR code on a phone. Check that it shows this code, and authorize.",
  "open-account": "bot’s account",
  "copy-code": "Copy the code",
  "open-twitch": "Open Twitch",
  qr: "QR code of the page on Twitch",
  waiting: "Waiting for Twitch. The code works for another {time}.",
  "bot-about": "The account that you authorize becomes the bot. Your own works, too: then nobody needs to make it a moderator.",
  "wrong-account": "The wrong account? Sign out on Twitch, sign in there as the right one, and connect again.",
  "connect-another": "Connect another account",

  // The guide to a client ID. Create, Manage and Client ID are words of a page that is in English.
  "client-about": "chatguard uses a Twitch application of your own. It costs nothing, its ID is no secret, and you need it only once.",
  "client-open": "Open {page} on Twitch. Any account of yours will do, if it has two-factor authentication.",
  "client-fill": "Fill in the form, then press Create:",
  "client-name": "any that is free, such as “chatguard of YOURCHANNEL”",
  "copy-field": "Copy the {field}",
  "client-copy": "Press Manage beside its name, and copy the Client ID.",
  "client-id": "Client ID",
  "wrong-client": "A client ID consists of letters and digits only, usually 30. Copy it again.",

  // The setup page
  "first-about": "chatguard starts by watching your channel. Nobody is throttled until you say so.",
  channel: "Twitch channel",
  "channel-hint": "yourchannel, or twitch.tv/yourchannel",
  "wrong-channel": "Enter the channel’s name as in twitch.tv/name: up to 25 letters, digits and _.",
  zone: "Time zone",
  "zone-about": "Daily limits reset at midnight there.",
  "wrong-zone": "Enter a time zone such as Europe/Berlin.",
  application: "Twitch application",
  "application-optional": "optional, can follow later",
  "application-about": "To act on messages, chatguard needs the client ID of a Twitch application of your own. It costs nothing and is no secret.",
  begin: "Start watching",
  starting: "Starting…",
  writes: "This writes chatguard.toml in the folder in which you started chatguard.",
};
