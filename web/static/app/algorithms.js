// The algorithms: what each is called and does, which of a limit's numbers can be edited, what those come to, and which a new one begins with.
//
// A field is {label, unit, isLength, least, most, mayBeEmpty}. Lengths of time are edited in seconds. meaning is given all fields as numbers.

import { length } from "./time.js";

const mostMessages = 2 ** 31 - 1;
const mostLogged = 1024; // messages that a sliding log remembers
const mostSeconds = Math.floor(2 ** 60 / 1e9); // 36 years

const count = (label, least = 1, most = mostMessages) => ({ label, unit: "messages", isLength: false, least, most });
const time = (label) => ({ label, unit: "seconds", isLength: true, least: 0.001, most: mostSeconds });

export const algorithms = {
  "token-bucket": {
    name: "token bucket",
    about: "A few messages at once, then one more each time that some seconds have passed. Good against bursts.",
    start: { burst: 3, refill: "4s" },
    fields: { burst: count("Messages at once"), refill: time("Then one more every") },
    meaning: ({ burst, refill }) =>
      `In the long run ${longRun(1, refill)}.` + (burst > 1 ? ` Once all ${amount(burst)} are used, they are back after ${length(burst * refill)} of silence.` : ""),
  },
  "leaky-bucket": {
    name: "leaky bucket",
    about: "One message at a time, evenly spaced; a few may wait for their turn. Good where a chat server holds messages back.",
    start: { every: "2s", queue: 3 },
    fields: { every: time("One message every"), queue: count("Messages that may wait", 0, mostMessages - 1) },
    meaning: ({ every, queue }) =>
      `In the long run ${longRun(1, every)}. ` +
      (queue === 0
        ? `Whatever comes less than ${length(every)} after the message before is throttled.`
        : `Of ${amount(queue + 1)} that come at once, the last has to wait ${length(queue * every)} for its turn. ` +
          "A bot that can’t hold messages back, as on Twitch, lets them appear at once; it throttles when every place is taken."),
  },
  "fixed-window": {
    name: "fixed window",
    about: "So many messages in each stretch of time by the clock, every minute say. Simple, and loose where two stretches meet.",
    start: { messages: 20, every: "1m" },
    fields: { messages: count("Messages in each window"), every: time("A window lasts") },
    meaning: ({ messages, every }) =>
      `In the long run ${longRun(messages, every)}. The windows follow the clock in UTC: where two of them meet, up to ${amount(2 * messages)} can come close together.`,
  },
  "daily-window": {
    name: "daily window",
    about: "So many messages a day. The day ends when it does for the user.",
    start: { messages: 300, reset_at: "00:00" },
    fields: { messages: count("Messages a day") },
    meaning: (_, limit, zone) => `The day ends at ${limit.reset_at || "00:00"}, ${limit.timezone || zone || "UTC"} time.`,
  },
  "user-window": {
    name: "user window",
    about: "So many messages in a stretch of time that begins with the user’s first.",
    start: { messages: 30, every: "5m" },
    fields: { messages: count("Messages in a window"), every: time("A window lasts") },
    meaning: ({ messages, every }) =>
      `In the long run ${longRun(messages, every)}. A window begins with its first message; ${length(every)} later all of it is back.`,
  },
  "sliding-window": {
    name: "sliding window",
    about: "So many messages in whatever stretch of time one looks at, estimated. Good for large numbers.",
    start: { messages: 100, every: "1h" },
    fields: { messages: count("Messages in any window"), every: time("A window lasts") },
    meaning: ({ messages, every }) =>
      `In the long run ${longRun(messages, every)}. This is an estimate: it takes the messages of the window before for evenly spread.`,
  },
  "sliding-log": {
    name: "sliding log",
    about: "So many messages in whatever stretch of time one looks at, exactly. For up to 1,024 messages.",
    start: { messages: 10, every: "30s" },
    fields: { messages: count("Messages in any window", 1, mostLogged), every: time("A window lasts") },
    meaning: ({ messages, every }) =>
      `In the long run ${longRun(messages, every)}. This is exact: a message counts for ${length(every)}, and then no longer.`,
  },
};

// algorithmOf returns the algorithm of a limit.
export function algorithmOf(limit) {
  return algorithms[limit.algorithm] ?? { name: limit.algorithm, about: "", start: {}, fields: {}, meaning: () => "" };
}

// roleFields are the numbers that a role can have for itself in a limit. An empty one is as everyone's.
export function roleFields(limit) {
  const { every, ...fields } = algorithmOf(limit).fields;
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, mayBeEmpty: true }]));
}

const grouped = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 3 });

// amount writes a number of messages: "15,750".
export const amount = (number) => grouped.format(number);

const spans = [["a minute", 60], ["an hour", 3600], ["a day", 86400], ["a week", 604800]];

// longRun says what so many messages in so many seconds come to: "200,000 a day". Of the spans that are no shorter than the time given, or
// than a day, it takes the first that holds a message.
function longRun(messages, seconds) {
  const span = spans.find(([, long]) => long >= Math.min(seconds, 86400) && messages * long >= seconds);
  if (!span) return `${amount(messages)} in ${length(seconds)}`;
  const exact = Number(((messages * span[1]) / seconds).toPrecision(12));
  const shown = Number.isInteger(exact) ? exact : Number(exact.toPrecision(3));
  return `${shown === exact ? "" : "about "}${amount(shown)} ${span[0]}`;
}
