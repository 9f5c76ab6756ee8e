// @ts-check
// The scenes: each is a link with a title, two sentences and a small task. They are loaded when they
// are first needed. The last three are experiments, with a view of their own.

import { isSpam } from "./chat/people.js";
import { passLow, passWithin, quietSpammer, spendNothing, waitAtMost, winNothing } from "./tasks.js";
/** @import { TextKey } from "../text/text.js" */
/** @import { Task } from "./tasks.js" */
/** @import { ViewName } from "./views.js" */

/**
 * @typedef {object} Scene
 * @property {string} id
 * @property {TextKey} title
 * @property {TextKey} text two sentences
 * @property {TextKey} task
 * @property {string[]} [algorithms] that the scene is about
 * @property {Task} [check] counts how far the task is
 * @property {string} fragment
 * @property {{timezone: string, title: TextKey}} [move] a timezone that all lanes can move to
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
    title: "lab.scene-chat",
    text: "lab.scene-chat-text",
    task: "lab.scene-chat-task",
    algorithms: ["token-bucket"],
    check: quietSpammer(15, isSpam, "lab.task-spammer"),
    fragment: "#lanes=token-bucket,burst=3,refill=4s&traffic=chat,people=20,every=20s,spam_every=500ms&speed=2",
  },
  {
    id: "copies",
    title: "lab.scene-copies",
    text: "lab.scene-copies-text",
    task: "lab.scene-copies-task",
    check: quietSpammer(15, isSpam, "lab.task-raid"),
    fragment: "#lanes=copy-paste:sliding-log,messages=20,every=30s,per=text,similar=true&traffic=chat,people=15,every=20s,spam_every=500ms,spammers=30&speed=2",
  },
  {
    id: "clock",
    title: "lab.scene-clock",
    text: "lab.scene-clock-text",
    task: "lab.scene-clock-task",
    algorithms: ["fixed-window"],
    check: passWithin(12, 2000),
    fragment: "#lanes=fixed-window,messages=6,every=10s;sliding-log,messages=6,every=10s&traffic=hand&span=30s",
  },
  {
    id: "own",
    title: "lab.scene-own",
    text: "lab.scene-own-text",
    task: "lab.scene-own-task",
    algorithms: ["user-window"],
    check: passWithin(11, 2000),
    fragment: "#lanes=user-window,messages=6,every=10s;fixed-window,messages=6,every=10s&traffic=hand&span=30s",
  },
  {
    id: "log",
    title: "lab.scene-log",
    text: "lab.scene-log-text",
    task: "lab.scene-log-task",
    algorithms: ["sliding-log"],
    check: passWithin(12, 11_000),
    fragment: "#lanes=sliding-log,messages=6,every=10s&traffic=hand&span=30s",
  },
  {
    id: "estimate",
    title: "lab.scene-estimate",
    text: "lab.scene-estimate-text",
    task: "lab.scene-estimate-task",
    algorithms: ["sliding-window"],
    check: passWithin(3, 5000, 75_000),
    fragment: `#lanes=sliding-window,messages=50,every=1m;sliding-log,messages=50,every=1m&traffic=hand&sent=${estimated.join()}&span=2m&at=75s`,
  },
  {
    id: "tokens",
    title: "lab.scene-tokens",
    text: "lab.scene-tokens-text",
    task: "lab.scene-tokens-task",
    algorithms: ["token-bucket"],
    check: passWithin(5, 9000),
    fragment: "#lanes=token-bucket,burst=3,refill=4s&traffic=hand&span=30s",
  },
  {
    id: "queue",
    title: "lab.scene-queue",
    text: "lab.scene-queue-text",
    task: "lab.scene-queue-task",
    algorithms: ["leaky-bucket"],
    check: waitAtMost(2000),
    fragment: "#lanes=leaky-bucket,every=100ms,queue=99;token-bucket,burst=100,refill=100ms&traffic=bursts,size=100,every=20s&span=30s",
  },
  {
    id: "cascade",
    title: "lab.scene-cascade",
    text: "lab.scene-cascade-text",
    task: "lab.scene-cascade-task",
    algorithms: ["cascade"],
    check: passLow(2),
    fragment: "#lanes=cascade,burst=3,refill=4s,extra_burst=2,extra_refill=20s;token-bucket,burst=3,refill=4s&traffic=hand&span=1m",
  },
  {
    id: "five",
    title: "lab.scene-five",
    text: "lab.scene-five-text",
    task: "lab.scene-five-task",
    check: spendNothing(5, "day", "minute"),
    fragment:
      "#lanes=minute:user-window,messages=5,every=1m+hour:user-window,messages=10,every=1h+day:user-window,messages=12,every=24h+week:user-window,messages=60,every=168h+month:user-window,messages=200,every=720h" +
      "&traffic=bursts,size=4,every=30m&span=2h&at=85m",
  },
  {
    id: "midnight",
    title: "lab.scene-midnight",
    text: "lab.scene-midnight-text",
    task: "lab.scene-midnight-task",
    algorithms: ["daily-window"],
    check: winNothing(6),
    move: { timezone: "America/New_York", title: "lab.scene-midnight-move" },
    fragment:
      "#lanes=daily-window,messages=6;daily-window,messages=6,timezone=Europe/Berlin;daily-window,messages=6,timezone=America/New_York" +
      "&traffic=steady,every=1h&speed=60&span=24h&start=2026-01-01T12:00:00Z&timezone=Europe/Berlin&at=10h30m",
  },
  {
    id: "push",
    title: "lab.scene-push",
    text: "lab.scene-push-text",
    task: "lab.scene-push-task",
    view: "push",
    fragment: "#",
  },
  {
    id: "accuracy",
    title: "lab.scene-accuracy",
    text: "lab.scene-accuracy-text",
    task: "lab.scene-accuracy-task",
    algorithms: ["sliding-window", "sliding-log"],
    view: "accuracy",
    fragment: "#",
  },
  {
    id: "edge",
    title: "lab.scene-edge",
    text: "lab.scene-edge-text",
    task: "lab.scene-edge-task",
    algorithms: ["token-bucket", "leaky-bucket", "cascade", "fixed-window", "user-window", "daily-window", "sliding-window", "sliding-log"],
    view: "edge",
    fragment: "#",
  },
];

/** @param {string} id */
export const sceneOf = (id) => scenes.find((scene) => scene.id === id);

// linkOf returns the link of a scene.
/** @param {Scene} of */
export const linkOf = ({ id, fragment }) => `${fragment}${fragment.length > 1 ? "&" : ""}scene=${id}`;
