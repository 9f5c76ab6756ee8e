// @ts-check
// The player: lab time runs, messages are sent, and the engine is asked ahead of time.

import { fieldOf } from "../app/limits/mistake.js";
import { createClock } from "./clock.js";
import { createQueue } from "./engine.js";
import { extend, judgeAll, keep, startPiece, untilWithin, withoutText } from "./schedule.js";
import { change, lab } from "./state.js";
import { emptyStrip, lastBy, nextAfter, shownUser } from "./tape.js";
import { kinds, lengthOf } from "./traffic.js";
/** @import { Mistake } from "../app/core/api.js" */
/** @import { Failure, Kept, Piece, Scene } from "./schedule.js" */
/** @import { Lane, Traffic, Wrong } from "./state.js" */
/** @import { Tape } from "./tape.js" */

const ahead = 10_000; // how far ahead traffic is requested, ms of wall time
const again = 4000; // more is requested when less than this is left, ms of wall time

export const clock = createClock();

/** @type {Kept[]} */
let kept = [];
/** @type {Piece | null} */
let piece = null;
let isStale = false; // the last question has failed
let isAsking = false;
let jumpsTo = NaN; // where to go once the traffic up to there is judged; Infinity: to its end

/** @type {{tape: Tape, version: number}} */
export const played = { tape: new Map(), version: 0 };

/** @type {() => void} */
let changed = () => {};

// onPlayed sets the function that is called whenever something must be drawn again.
/** @param {() => void} draw */
export function onPlayed(draw) {
  changed = draw;
}

/** @returns {Scene} */
const scene = () => ({ lanes: lab.lanes, start: lab.start, timezone: lab.timezone, move: lab.move, kept, piece, grants: lab.grants });

const ask = createQueue(
  async (/** @type {{wanted: number, of: Scene}} */ { wanted, of }) => {
    if (of.lanes.length === 0) return { tape: new Map(), piece: of.piece, start: of.start };
    const found = of.piece && wanted > of.piece.until ? await extend(of, wanted) : { piece: of.piece, start: of.start };
    return { ...found, tape: found.tape ?? (await judgeAll({ ...of, ...found })) };
  },
  ({ of }, { tape, piece: found, start }) => {
    isAsking = false;
    if (of.piece === piece) piece = found; // otherwise other traffic has begun meanwhile
    played.tape = tape;
    played.version++;
    const isEmpty = Boolean(found && kinds[found.traffic.kind].isRecorded && found.until > found.from && found.made.length === 0);
    const without = withoutText(of.lanes, found);
    if (lab.problem || start !== lab.start || isEmpty !== lab.isEmpty || without !== lab.withoutText) change((l) => Object.assign(l, { problem: "", wrong: null, start, isEmpty, withoutText: without }));
    if (!Number.isNaN(jumpsTo)) jump();
    changed();
  },
  (_, problem) => {
    isAsking = false;
    isStale = true;
    pause();
    fail(problem);
  },
);

// fail shows why the engine doesn't answer: beside the field of a wrong value, if that is shown.
/** @param {Failure} problem */
export const fail = ({ message, status, lane, mistake }) =>
  change((l) => Object.assign(l, { problem: message, wrong: lane && l.edited === lane.id ? wrongIn(lane, mistake) : null, isSignedOut: status === 401 }));

/** @param {Lane} lane @param {Mistake} mistake @returns {Wrong | null} */
function wrongIn({ id: lane, limits }, mistake) {
  const id = fieldOf({ limits }, mistake, (parameter, i) => `limit-${lane}-${i}-${parameter}`);
  return id ? { lane, id, problem: mistake.problem } : null;
}

// refresh asks about the scene as it is now.
export function refresh() {
  isStale = false;
  isAsking = true;
  ask({ wanted: wantedUntil(), of: scene() });
  changed();
}

// wantedUntil returns the lab time up to which traffic is needed now.
function wantedUntil() {
  const now = clock.now();
  if (!piece) return now;
  if (!Number.isNaN(jumpsTo)) return untilWithin(scene(), Math.max(now, Number.isFinite(jumpsTo) ? jumpsTo : piece.from + tenMinutes(piece.traffic)));
  const isAhead = piece.until - now > again * clock.speed();
  return isAhead ? piece.until : untilWithin(scene(), now + ahead * clock.speed());
}

/** @param {Traffic} traffic */
const tenMinutes = (traffic) => Math.min(lengthOf(traffic), 600_000);

// keepAhead requests more traffic if the known traffic ends soon. It is called with each frame.
export function keepAhead() {
  if (!clock.isPlaying()) return;
  const now = clock.now();
  if (!isAsking && (isStale || (piece && wantedUntil() > piece.until))) refresh();
  if (piece && now >= piece.from + lengthOf(piece.traffic)) end(piece.from + lengthOf(piece.traffic));
  else if (piece && !lab.isFull && untilWithin(scene(), Infinity) <= now) change((l) => (l.isFull = true));
}

/** @param {number} time */
function end(time) {
  clock.moveTo(time);
  pause();
}

export function play() {
  const isOver = piece && clock.now() >= piece.from + lengthOf(piece.traffic);
  if (isOver) reset();
  clock.play();
  change((l) => (l.isPlaying = true));
  refresh();
}

export function pause() {
  clock.pause();
  change((l) => (l.isPlaying = false));
  changed();
}

// toggle plays or pauses.
export const toggle = () => (clock.isPlaying() ? pause() : play());

/** @param {number} speed */
export function setSpeed(speed) {
  clock.setSpeed(speed);
  change((l) => (l.speed = speed));
  refresh();
}

// step pauses and moves to the next message, or by a second if there is none.
export function step() {
  pause();
  const next = nextAfter(played.tape, clock.now());
  clock.moveTo(Number.isFinite(next) ? next : clock.now() + 1000);
  refresh();
}

// reset starts the scene again: messages sent by hand and grants are gone.
export function reset() {
  kept = [];
  change((l) => (l.grants = []));
  begin();
}

// begin starts the scene that the state describes, with its messages, at 0.
function begin() {
  clock.moveTo(0);
  piece = startPiece(lab.traffic, 0);
  played.tape = new Map();
  played.version++;
  change((l) => Object.assign(l, { isHeld: false, isFull: false, sent: kept }));
  refresh();
}

// open starts the scene of a link. It plays unless the link names a time; from is where it begins.
export function open(from = NaN) {
  kept = [...lab.sent];
  clock.pause(); // the scene before doesn't go on in this one
  clock.setSpeed(lab.speed);
  jumpsTo = lab.at ?? from;
  begin();
  if (lab.at === null) play();
  else pause();
}

// jump goes to the time that a link names, now that it is judged.
function jump() {
  const last = Math.max(0, ...[...played.tape.values()].map(({ entries, grants }) => Math.max(entries.at(-1)?.at ?? 0, grants.at(-1)?.at ?? 0)));
  const end = piece && Number.isFinite(piece.until) ? piece.until : last;
  clock.moveTo(Number.isFinite(jumpsTo) ? jumpsTo : end);
  jumpsTo = NaN;
}

// send sends a message at a lab time, to one lane or to all. Automatic traffic pauses for it.
/** @param {number} at @param {number} [lane] the lane's ID */
export function send(at, lane) {
  hold(at);
  const sent = lane === undefined ? { at } : { at, lane };
  kept = [...kept, sent];
  change((l) => Object.assign(l, { sent: [...l.sent, sent] }));
  refresh();
}

export const oneGrant = 5; // messages
const mostGrants = 200; // that the server accepts for a lane

// grant gives extra messages to the user whose state a lane shows, now. Automatic traffic goes on.
/** @param {number} lane its ID */
export function grant(lane) {
  const at = clock.now(), { entries } = played.tape.get(lane) ?? emptyStrip;
  const one = { at, lane, messages: oneGrant, user: shownUser(entries, lastBy(entries, at)) };
  if (lab.grants.filter((other) => other.lane === lane).length >= mostGrants) return;
  change((l) => (l.grants = [...l.grants, one].sort((a, b) => a.at - b.at)));
  refresh();
}

// hold ends the automatic traffic at a time. What it had sent until then stays.
/** @param {number} at */
function hold(at) {
  if (!piece) return;
  kept = [...kept, ...keep(piece.made, lab.start).filter((one) => one.at <= at)].sort((a, b) => a.at - b.at);
  piece = null;
  change((l) => (l.isHeld = true));
}

// resume lets the automatic traffic go on.
export function resume() {
  if (!lab.isHeld) return;
  piece = startPiece(lab.traffic, clock.now());
  change((l) => (l.isHeld = false));
  if (!clock.isPlaying()) play();
  else refresh();
}

// setTraffic changes the automatic traffic, from now on. Recorded traffic begins a new scene,
// because its messages have times of their own; if it is chosen, it plays.
/** @param {Traffic} traffic */
export function setTraffic(traffic) {
  if (kinds[traffic.kind].isRecorded) {
    const isChosen = traffic.kind !== lab.traffic.kind;
    change((l) => (l.traffic = traffic));
    reset();
    if (isChosen) play();
    return;
  }
  const now = clock.now();
  hold(now);
  piece = startPiece(traffic, now);
  change((l) => Object.assign(l, { traffic, isHeld: false }));
  refresh();
}
