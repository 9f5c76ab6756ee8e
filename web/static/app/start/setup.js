// @ts-check
// What is left to do until the channel's limits are enforced, as chatguard says.

import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
/** @import { State } from "../core/state.js" */

/**
 * Setup is chatguard's answer about a channel.
 * @typedef {object} Setup
 * @property {{name: "connect" | "moderator" | "watch" | "enforce", state: "todo" | "running" | "done" | "failed"}[]} steps
 * @property {boolean} done
 * @property {string} [account] login of the bot's account
 * @property {string} [problem] what is wrong with the token
 * @property {string} [command] makes the bot a moderator
 * @property {string} [chat_page]
 * @property {string} since when chatguard was started
 * @property {number} messages
 * @property {number} observed messages that would have been throttled
 * @property {"observe" | "enforce"} mode
 */

/**
 * Start is the state of the checklist.
 * @typedef {object} Start
 * @property {string} channel
 * @property {Setup | null} setup null before the first answer, or if there is no bot on Twitch
 * @property {boolean} wasMissing a step was missing since the page was opened
 * @property {boolean} isHidden
 * @property {boolean} isAsking whether the person is asked to confirm that limits are enforced
 * @property {boolean} busy
 * @property {string} problem why the limits aren't enforced
 * @property {"" | "copied" | "selected"} copied what happened to the command
 */

const often = 2000; // between two questions while something is missing, ms
const seldom = 60_000;

let asked = 0; // time of the last question, ms
let about = ""; // what the last question was about
let asking = false;

// look asks chatguard what is missing, if that may have changed.
/** @param {State} of */
export function look({ channel, status, policy, start }) {
  const isNew = start?.channel !== channel;
  const now = JSON.stringify([channel, status?.connections.map((c) => c.name + c.state), policy?.in_force, policy?.mode]);
  const pause = isNew || now !== about ? 0 : start?.setup && !start.setup.done ? often : seldom;
  if (asking || Date.now() - asked < Math.max(pause, 500)) return;
  about = now;
  ask(channel);
}

/** @param {string} channel */
async function ask(channel) {
  asking = true;
  asked = Date.now();
  /** @type {Setup | null} */
  let setup = null;
  try {
    setup = (await request("GET", "/setup" + (channel ? `?channel=${encodeURIComponent(channel)}` : ""))).body;
  } catch (problem) {
    if (ifSignedOut(problem)) return;
    if (problem.status !== 501) setup = state.start?.channel === channel ? state.start.setup : null;
  } finally {
    asking = false;
  }
  update((s) => {
    const before = s.start?.channel === channel ? s.start : fresh(channel);
    s.start = { ...before, setup, wasMissing: before.wasMissing || setup?.done === false };
  });
}

// again asks at once, after the person has changed something.
export function again() {
  about = "";
  ask(state.channel);
}

/** @param {string} channel @returns {Start} */
const fresh = (channel) => ({ channel, setup: null, wasMissing: false, isHidden: false, isAsking: false, busy: false, problem: "", copied: "" });

// change changes the state of the checklist.
/** @param {Partial<Start>} news */
export function change(news) {
  update((s) => s.start && (s.start = { ...s.start, ...news }));
}
