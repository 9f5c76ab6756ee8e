// @ts-check
// The scenes: each is a link with a title, two sentences and a small task. They are loaded when they
// are first needed.

/**
 * @typedef {object} Scene
 * @property {string} id
 * @property {string} title
 * @property {string} text two sentences
 * @property {string} task
 * @property {string} fragment
 */

/** @type {Scene[]} */
export const scenes = [
  {
    id: "clock",
    title: "A window by the clock",
    text: "Fifteen messages each minute, and the minute ends for everyone at the same second: what is left of one box is lost, and the next is empty. Around its end, two boxes count.",
    task: "Send 30 messages within two seconds, and get them all through. The lane below lets only 15 through.",
    fragment: "#lanes=fixed-window,messages=15,every=1m;sliding-log,messages=15,every=1m&traffic=hand&span=90s",
  },
  {
    id: "log",
    title: "The exact log",
    text: "The bracket slides with time, and each message counts until it is left behind. So there is no second at which everything is forgiven.",
    task: "Fill the bracket, then find out when the next message passes.",
    fragment: "#lanes=sliding-log,messages=5,every=20s&traffic=hand",
  },
  {
    id: "tokens",
    title: "Tokens: 3 at once, one every 4 s",
    text: "Each message takes a token, and the tokens come back one by one. A short burst passes, and a long one is slowed down to the rate at which they come.",
    task: "Hold Space and count what passes: the first three at once, then one every four seconds.",
    fragment: "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&span=30s",
  },
];

/** @param {string} id */
export const sceneOf = (id) => scenes.find((scene) => scene.id === id);
