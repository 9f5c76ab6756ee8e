// A clock for tests: timers and the time move only when a test says so, or waits for something that
// a timer will do.

const real = { setTimeout, setImmediate };
const began = Date.parse("2026-11-03T12:00:00Z"); // as in answers.json
let time = began; // ms
let last = 0; // the number of the last timer
/** @type {Map<number, {at: number, every: number, run: () => void}>} */
const timers = new Map();

const RealDate = Date;
globalThis.Date = class extends RealDate {
  constructor(...of) {
    super(...(of.length > 0 ? of : [time]));
  }
  static now = () => time;
};
Object.defineProperty(performance, "now", { value: () => time - began });

const start = (repeats) => (run, ms = 0, ...args) => {
  timers.set(++last, { at: time + Math.max(ms, 1), every: repeats ? Math.max(ms, 1) : 0, run: () => run(...args) });
  return last;
};
globalThis.setTimeout = start(false);
globalThis.setInterval = start(true);
globalThis.clearTimeout = globalThis.clearInterval = (id) => timers.delete(id);
globalThis.requestAnimationFrame = (run) => start(false)(() => run(performance.now()), 16);
globalThis.cancelAnimationFrame = clearTimeout;

// next returns the ID of the timer that is due first.
function next() {
  let first = 0;
  for (const [id, { at }] of timers) if (!first || at < timers.get(first).at) first = id;
  return first;
}

// idle lets everything run that waits for no timer.
export async function idle() {
  for (let i = 0; i < 5; i++) await new Promise((done) => real.setImmediate(done));
}

// advance moves the clock, and runs what is due by then.
export async function advance(ms) {
  const until = time + ms;
  await idle();
  for (let id = next(); id && timers.get(id).at <= until; id = next()) {
    const { at, every, run } = timers.get(id);
    time = Math.max(time, at);
    if (every) timers.get(id).at = at + every;
    else timers.delete(id);
    run();
    await idle();
  }
  time = until;
}

// restart sets the clock back to the time of answers.json. What timers still wait for stays as far
// away as it was.
export function restart() {
  for (const timer of timers.values()) timer.at += began - time;
  time = began;
}
