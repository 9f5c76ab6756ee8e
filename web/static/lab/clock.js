// @ts-check
// Lab time: milliseconds since the start of the scene. It runs at a speed, and can be paused, moved
// and reset. Wall time is that of performance.now() and of events.

export const speeds = [1, 2, 10, 60];

// createClock returns a clock that stands at 0.
/** @param {() => number} [wall] the wall time, ms */
export function createClock(wall = () => performance.now()) {
  let since = wall(); // the wall time at which the lab time was from
  let from = 0, speed = 1, playing = false;
  /** @param {number} at */
  const lab = (at) => from + (playing ? Math.max(0, at - since) * speed : 0);
  // settle makes the lab time so far permanent, before the clock changes.
  const settle = () => {
    const now = wall();
    from = lab(now);
    since = now;
  };
  return {
    now: () => lab(wall()),
    // timeOf returns the lab time of an event, such as a click, which is a little in the past.
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

// spanText writes a short duration: "2.6 s", "1 min 12 s", "3 h 4 min", "6 days 22 h". It rounds up, so that a
// countdown ends with what it counts.
/** @param {number} ms */
export function spanText(ms) {
  const tenths = Math.ceil(ms / 100 - 1e-6);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.ceil(ms / 1000 - 1e-6), minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  if (hours === 0) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const whole = Math.ceil(minutes / 60); // hours
  if (whole >= 48) return whole % 24 === 0 ? `${whole / 24} days` : `${Math.floor(whole / 24)} days ${whole % 24} h`;
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}
