// @ts-check
// The scenes: each is a link with a title, two sentences and a small task. They are loaded when they
// are first needed. The last three are experiments, with a view of their own.

import { spammer } from "./chat/people.js";
import { passLow, passWithin, quietSpammer, spendNothing, waitAtMost, winNothing } from "./tasks.js";
/** @import { Task } from "./tasks.js" */
/** @import { ViewName } from "./views.js" */

/**
 * @typedef {object} Scene
 * @property {string} id
 * @property {string} title
 * @property {string} text two sentences
 * @property {string} task
 * @property {Task} [check] counts how far the task is
 * @property {string} fragment
 * @property {string} [destination] a timezone that all lanes can move to
 * @property {ViewName} [view] is shown in place of the lanes
 */

// evenly returns times in seconds for messages at equal distances, the last at the end.
/** @param {number} count @param {number} from s @param {number} until s */
const evenly = (count, from, until) => Array.from({ length: count }, (_, i) => Number((from + ((i + 1) * (until - from)) / count).toFixed(1)));

const estimated = [...evenly(42, 0, 59), ...evenly(18, 60, 75)];

/** @type {Scene[]} */
export const scenes = [
  {
    id: "chat",
    title: "Why limit: the chat",
    text: "Twenty people write every 20 seconds, and a spammer writes twice per second. Without limits two thirds of the chat are spam; with a token bucket for each user it is a fifth, and nobody else notices.",
    task: "Bring the spammer below 15 % without throttling anyone else: change the limits.",
    check: quietSpammer(15, spammer),
    fragment: "#lanes=token-bucket,burst=3,refill=4s&traffic=chat,people=20,every=20s,spam_every=500ms&speed=2",
  },
  {
    id: "clock",
    title: "A window by the clock",
    text: "Six messages every ten seconds by the clock, and the window ends for everyone at the same moment. What is left of one window is lost, and the next one starts empty.",
    task: "Get 12 messages through within two seconds. The exact log in lane 2 never lets more than six through.",
    check: passWithin(12, 2000),
    fragment: "#lanes=fixed-window,messages=6,every=10s;sliding-log,messages=6,every=10s&traffic=hand&span=30s",
  },
  {
    id: "own",
    title: "A window of your own",
    text: "The window opens with your first message and ends ten seconds later. Its edge is yours alone, but it is still an edge.",
    task: "Get 11 messages through within two seconds: one opens the window, and the others wait for its end.",
    check: passWithin(11, 2000),
    fragment: "#lanes=user-window,messages=6,every=10s;fixed-window,messages=6,every=10s&traffic=hand&span=30s",
  },
  {
    id: "log",
    title: "The exact log",
    text: "The log keeps the time of each message, and each one counts for exactly ten seconds. So there is no moment at which everything is forgiven.",
    task: "Get 12 messages through within 11 seconds. Within two seconds it can’t be done.",
    check: passWithin(12, 11_000),
    fragment: "#lanes=sliding-log,messages=6,every=10s&traffic=hand&span=30s",
  },
  {
    id: "estimate",
    title: "The estimate: 42, 18 → 49.5",
    text: "There were 42 messages in the last minute and 18 in the first 15 seconds of this one: 42 × 0.75 + 18 = 49.5 of 50. The window keeps only these two numbers, and assumes that the 42 were evenly spread.",
    task: "Press Play and get three more messages through lane 1 within five seconds.",
    check: passWithin(3, 5000, 75_000),
    fragment: `#lanes=sliding-window,messages=50,every=1m;sliding-log,messages=50,every=1m&traffic=hand&sent=${estimated.join()}&span=2m&at=75s`,
  },
  {
    id: "tokens",
    title: "Tokens: 3 at once, one every 4 s",
    text: "Each message takes a token, and the tokens come back one by one. A short burst passes, and a long one is slowed down to the rate at which they come.",
    task: "Get five messages through within nine seconds.",
    check: passWithin(5, 9000),
    fragment: "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&span=30s",
  },
  {
    id: "queue",
    title: "The leaky bucket: 100 at once",
    text: "A hundred messages arrive at once; the leaky bucket lets one leave every 0.1 seconds, and the last one waits 9.9 seconds. The token bucket has the same rate and lets the whole hundred through at once.",
    task: "Edit lane 1 so that nobody waits longer than two seconds. What happens to the others?",
    check: waitAtMost(2000),
    fragment: "#lanes=leaky-bucket,every=100ms,queue=99;token-bucket,burst=100,refill=100ms&traffic=bursts,size=100,every=20s&span=30s",
  },
  {
    id: "cascade",
    title: "The cascade: two buckets",
    text: "The first bucket pays for three messages at once, and when it is empty, the second one pays for two more, at low priority. Low messages pass like others, until a busy room keeps a reserve for those of normal priority.",
    task: "Get two messages through at low priority.",
    check: passLow(2),
    fragment: "#lanes=cascade,burst=3,refill=4s,extra_burst=2,extra_refill=20s;token-bucket,burst=3,refill=4s&traffic=hand&span=1m",
  },
  {
    id: "five",
    title: "Five windows at once",
    text: "A message passes only if the minute, hour, day, week and month all have room, and otherwise it spends nothing in any of them. After an hour the day is full, so the minute stays unused.",
    task: "Send five messages now. The day refuses them, and the minute still has all five.",
    check: spendNothing(5, "day", "minute"),
    fragment:
      "#lanes=minute:user-window,messages=5,every=1m+hour:user-window,messages=10,every=1h+day:user-window,messages=12,every=24h+week:user-window,messages=60,every=168h+month:user-window,messages=200,every=720h" +
      "&traffic=bursts,size=4,every=30m&span=2h&at=85m",
  },
  {
    id: "midnight",
    title: "Whose midnight",
    text: "Six messages a day, and lane 1 has Berlin’s midnight until it moves to New York. The day that has begun still ends in Berlin, and the next one lasts until a midnight in New York at least 12 hours later.",
    task: "Move just before or just after Berlin’s midnight, then play on: lane 1 never gets ahead of lanes 2 (Berlin) and 3 (New York).",
    check: winNothing(6),
    destination: "America/New_York",
    fragment:
      "#lanes=daily-window,messages=6;daily-window,messages=6,timezone=Europe/Berlin;daily-window,messages=6,timezone=America/New_York" +
      "&traffic=steady,every=1h&speed=60&span=24h&start=2026-01-01T12:00:00Z&timezone=Europe/Berlin&at=10h30m",
  },
  {
    id: "push",
    title: "10,000 at 1,000 per second",
    text: "A sender has 10,000 messages and sends each one as soon as the limit lets it, except in two pauses. All nine limits allow 1,000 messages per second in the long run, but after a pause they differ.",
    task: "Count per tenth of a second: which limits spend a whole second’s worth in one go?",
    view: "push",
    fragment: "#",
  },
  {
    id: "accuracy",
    title: "Window against log",
    text: "The sliding window estimates what the sliding log counts, from two numbers in place of one time for each message. Random traffic shows how far off the estimate is, and how often it decides wrongly.",
    task: "Find the rates at which the window is never wrong, and the one at which it is wrong most often.",
    view: "accuracy",
    fragment: "#",
  },
  {
    id: "edge",
    title: "At the edge",
    text: "Each limit allows 15 messages per minute, and each has the sender who knows it best. The curves count what passed in the last 60 seconds.",
    task: "Explain from the curves why a fixed window lets 30 of 15 through.",
    view: "edge",
    fragment: "#",
  },
];

/** @param {string} id */
export const sceneOf = (id) => scenes.find((scene) => scene.id === id);

// linkOf returns the link of a scene.
/** @param {Scene} of */
export const linkOf = ({ id, fragment }) => `${fragment}${fragment.length > 1 ? "&" : ""}scene=${id}`;
