// @ts-check
// Lab time: milliseconds since the start of the scene. It runs at a speed, and can be paused, moved
// and reset. Wall time is that of performance.now() and of events.

import { t } from "../text/text.js";
import { fixed } from "./numbers.js";

export const speeds = [1, 2, 10, 60];

// createClock returns a clock that stands at 0.
/** @param {() => number} [wall] the wall time, ms */
export function createClock(wall = () => performance.now()) {
  let since = wall(); // the wall time that belongs to the lab time from
  let from = 0, speed = 1, playing = false;
  /** @param {number} at */
  const lab = (at) => from + (playing ? Math.max(0, at - since) * speed : 0);
  // settle stores the lab time so far, before the clock changes.
  const settle = () => {
    const now = wall();
    from = lab(now);
    since = now;
  };
  return {
    now: () => lab(wall()),
    // timeOf returns the lab time of an event, such as a click, which happened a little earlier.
    /** @param {Event} event */
    timeOf: (event) => lab(event.timeStamp),
    isPlaying: () => playing,
    speed: () => speed,
    play() {
      settle();
      playing = true;
    },
    pause() {
      settle();
      playing = false;
    },
    /** @param {number} times */
    setSpeed(times) {
      settle();
      speed = times;
    },
    /** @param {number} time lab time, ms */
    moveTo(time) {
      settle();
      from = time;
    },
  };
}

/** @typedef {ReturnType<typeof createClock>} Clock */

// clockText writes a lab time: "00:01:12.4".
/** @param {number} ms */
export function clockText(ms) {
  const tenths = Math.floor(ms / 100);
  /** @param {number} number */
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  return `${two(tenths / 36_000)}:${two((tenths / 600) % 60)}:${two((tenths / 10) % 60)}.${tenths % 10}`;
}

// spanText writes a short duration: "2.6 s", "1 min 12 s", "3 h 4 min", "6 days 22 h". It rounds
// up, so that a countdown isn't at zero too early.
/** @param {number} ms */
export function spanText(ms) {
  const tenths = Math.ceil(ms / 100 - 1e-6);
  if (tenths < 600) return t("lab.span-s", { s: fixed(tenths / 10, 1) });
  const seconds = Math.ceil(ms / 1000 - 1e-6), min = Math.floor(seconds / 60), h = Math.floor(min / 60);
  if (h === 0) return seconds % 60 === 0 ? t("lab.span-min", { min }) : t("lab.span-min-s", { min, s: seconds % 60 });
  const whole = Math.ceil(min / 60); // hours
  if (whole >= 48) return whole % 24 === 0 ? t("lab.span-days", { n: whole / 24 }) : t("lab.span-days-h", { n: Math.floor(whole / 24), h: whole % 24 });
  return min % 60 === 0 ? t("lab.span-h", { h }) : t("lab.span-h-min", { h, min: min % 60 });
}

// secondsText writes seconds as they are: "30 s", "0.5 s".
/** @param {number} s */
export const secondsText = (s) => t("lab.span-s", { s });

// roundText writes a duration in its largest unit that divides it: "30 s", "2 h", "1 day".
/** @param {number} ms */
export function roundText(ms) {
  if (ms % 86_400_000 === 0) return t("lab.span-days", { n: ms / 86_400_000 });
  if (ms % 3_600_000 === 0) return t("lab.span-h", { h: ms / 3_600_000 });
  return ms % 60_000 === 0 ? t("lab.span-min", { min: ms / 60_000 }) : secondsText(ms / 1000);
}
