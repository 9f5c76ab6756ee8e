// Penalties in words: what is to be done, what it is called, and what was done.

import { seconds, wait } from "./time.js";

// todo says what each penalty tells chatguard to do; that of "timeout" goes on with its length.
export const todo = {
  delete: "delete the message",
  warn: "delete and warn",
  timeout: "time out for",
  "timeout refill": "time out until they may write again",
  ban: "ban",
  drop: "drop it unseen, in a chat server",
  none: "nothing",
};

// nouns are what actions are called, and past what they have done.
export const nouns = { none: "nothing", delete: "delete", warn: "warning", timeout: "timeout", ban: "ban", drop: "drop" };
export const past = { delete: "deleted", warn: "warned", timeout: "timed out", ban: "banned", drop: "dropped", none: "nothing done" };

// penaltyWords says what a penalty, as the API writes it, tells chatguard to do: "time out for 10 min".
export function penaltyWords(penalty) {
  const [action, length] = penalty.split(" ");
  return todo[penalty] ?? `${todo[action] ?? action} ${wait(seconds(length ?? "") * 1000)}`;
}

// lastingWords says for how long a penalty silences, after a word for what was done: " for 10 min". It is empty for what is no timeout.
export function lastingWords(penalty) {
  const [, length] = penalty.split(" ");
  if (!length) return "";
  return length === "refill" ? " until they may write again" : ` for ${wait(seconds(length) * 1000)}`;
}
