// @ts-check
// The state of the Lab's page. What changes with each frame (the time, the marks, the levels) is
// not in it: see player.js.

/** @import { Scene } from "./scenes.js" */

/**
 * Lane is a row of the Lab: one policy with its limits. All of them must allow a message.
 * @typedef {object} Lane
 * @property {number} id never used twice on one page
 * @property {Limit[]} limits
 */

/** @typedef {Partial<Api.Limit> & {algorithm: string, name: string}} Limit */

/**
 * Traffic is a kind of traffic with its numbers as texts: {kind: "bursts", size: "6", every: "20s"}.
 * @typedef {Record<string, string> & {kind: string}} Traffic
 */

/**
 * Sent is a message that was sent by hand.
 * @typedef {object} Sent
 * @property {number} at lab time, ms
 * @property {number} [lane] the ID of the only lane that gets it; all lanes get others
 */

/**
 * Gift is a number of extra messages that was granted by hand.
 * @typedef {object} Gift
 * @property {number} at lab time, ms
 * @property {number} lane its ID
 * @property {number} messages
 * @property {string} user the ID of who gets them
 */

/**
 * Setup is what a link says.
 * @typedef {object} Setup
 * @property {Lane[]} lanes
 * @property {Traffic} traffic
 * @property {Sent[]} sent
 * @property {Gift[]} grants in the order of their times
 * @property {number} speed
 * @property {number} span the time that a lane shows, ms; 0: it depends on the speed
 * @property {number} start the time of day at lab time 0, Unix ms
 * @property {string} timezone of all lanes; empty: UTC
 * @property {Move | null} move
 * @property {number | null} at the lab time at which the page pauses, ms; Infinity: at the end
 * @property {string} scene the ID of a scene, or empty
 */

/**
 * Move is a change of the timezone of all lanes.
 * @typedef {object} Move
 * @property {number} at lab time, ms
 * @property {string} timezone
 */

/** @typedef {{text: string, isBad: boolean}} Note */

/** @typedef {{lane: number, id: string, problem: string}} Wrong lane and id are IDs, of the lane and of the field */

/** @typedef {Api.getLab["channels"][number]} LabChannel a channel with recorded traffic */

/**
 * @typedef {object} More
 * @property {boolean} isPlaying
 * @property {boolean} isHeld the automatic traffic has paused for a message sent by hand
 * @property {boolean} isFull the engine accepts no more messages
 * @property {number} edited the ID of the lane whose numbers are shown, or 0
 * @property {string[]} unknown parts of the link that mean nothing here
 * @property {string} problem why the engine doesn't answer, or empty
 * @property {Wrong | null} wrong the value that the engine refuses, if its field is shown
 * @property {boolean} isSignedOut the dashboard wants a sign-in first
 * @property {Scene | null} story of the scene
 * @property {boolean} isSolved the scene's task is done
 * @property {boolean} isDashboard the Lab belongs to a dashboard
 * @property {LabChannel[]} channels those with recorded traffic
 * @property {boolean} isEmpty the recorded traffic has no messages
 * @property {number} withoutText messages that the lanes’ limits on repeated text don’t count
 */

export const newYear = Date.UTC(2026, 0, 1); // the start of scenes that don't name another

/** @type {Setup & More} */
export const lab = {
  lanes: [],
  traffic: { kind: "hand" },
  sent: [],
  grants: [],
  speed: 1,
  span: 0,
  start: newYear,
  timezone: "",
  move: null,
  at: null,
  scene: "",
  isPlaying: false,
  isHeld: false,
  isFull: false,
  edited: 0,
  unknown: [],
  problem: "",
  wrong: null,
  isSignedOut: false,
  story: null,
  isSolved: false,
  isDashboard: false,
  channels: [],
  isEmpty: false,
  withoutText: 0,
};

// isMarked reports whether the field of a refused value is shown, and so why the engine doesn't answer.
/** @param {Pick<More, "wrong" | "edited">} of */
export const isMarked = ({ wrong, edited }) => wrong !== null && wrong.lane === edited;

/** @type {(() => void) | null} */
let listener = null;
let isDue = false;

// onChange calls a function after changes, once for all changes of the same task.
/** @param {() => void} changed */
export function onChange(changed) {
  listener = changed;
}

/** @param {(l: Setup & More) => void} edit */
export function change(edit) {
  edit(lab);
  if (isDue) return;
  isDue = true;
  queueMicrotask(() => {
    isDue = false;
    listener?.();
  });
}

let lastID = 0;

/** @param {Limit[]} limits @returns {Lane} */
export const newLane = (limits) => ({ id: ++lastID, limits });
