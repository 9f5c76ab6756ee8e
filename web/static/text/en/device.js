// @ts-check
// Signing in with Twitch by a code to enter there.

export default {
  // The code, and what to do with it
  asking: "Asking Twitch for a code…",
  how: "Open Twitch, check that it shows this code, and authorize. chatguard learns only who you are and where you moderate.",
  "copy-code": "Copy the code",
  open: "Open Twitch",
  waiting: "Waiting for Twitch. The code works for another {time}.",
  again: "Get a new code",
  cancel: "Cancel",
};
