// @ts-check
// The messages of a scene: those sent by hand, and those of automatic traffic. It asks the engine
// about all of them, and keeps the tape that comes back.

import { judge, mostMessages } from "./engine.js";
import { stripOf } from "./tape.js";
import { asked, isClear, lengthOf, rateOf } from "./traffic.js";
/** @import { Answer, Message, Question } from "./engine.js" */
/** @import { Lane, Move, Sent, Traffic } from "./state.js" */
/** @import { Tape } from "./tape.js" */

/** @typedef {Sent & {message?: Message}} Kept message is what traffic made; others are sent by hand */

/**
 * Piece is a stretch of automatic traffic. made are its messages before the time until; the server
 * makes them.
 * @typedef {object} Piece
 * @property {number} from lab time, ms
 * @property {number} until
 * @property {Traffic} traffic
 * @property {Message[]} made
 */

/**
 * Scene is what the engine is asked about.
 * @typedef {object} Scene
 * @property {Lane[]} lanes
 * @property {number} start Unix ms
 * @property {string} timezone
 * @property {Move | null} [move]
 * @property {Kept[]} kept messages that were sent, by hand or by traffic that has ended
 * @property {Piece | null} piece the automatic traffic that goes on
 */

const user = "anna"; // who sends by hand: also the one who sends automatic traffic of one user
const spare = 500; // messages that are left for the hand when automatic traffic ends

// untilWithin returns how far a piece can reach, at most until the wanted time, so that all messages
// of the scene are within the engine's bound.
/** @param {Scene} scene @param {number} wanted */
export function untilWithin({ kept, piece }, wanted) {
  const room = mostMessages - spare - kept.length;
  const end = piece.from + Math.min(lengthOf(piece.traffic), room / rateOf(piece.traffic));
  return Math.min(wanted, end);
}

// extend has the server make the traffic of a piece until a time. It returns the piece with it. If
// nothing else happens in the scene, the answer is the tape, too.
/** @param {Scene} scene @param {number} wanted @returns {Promise<{piece: Piece, tape?: Tape, start: number}>} */
export async function extend(scene, wanted) {
  const { lanes, start, kept, piece } = scene;
  const { traffic, from } = piece;
  const until = untilWithin(scene, wanted);
  const isRecorded = traffic.kind === "recorded";
  const stretch = isRecorded
    ? traffic.from ? { from: traffic.from, for: traffic.for || "10m" } : { busiest: traffic.for || "10m" }
    : { from: new Date(start + from).toISOString(), for: `${Math.ceil(until - from)}ms` };
  const answer = await judge({ ...question(lanes, scene), traffic: { ...asked(traffic), ...stretch } });
  const messages = answer.messages ?? [];
  const first = isRecorded && messages.length > 0 ? messages[0].at : start;
  const longer = { ...piece, until: isRecorded ? Infinity : until, made: messages };
  const isAll = kept.length === 0;
  return { piece: longer, start: first, ...(isAll && { tape: tapeOf(lanes, messages, answer, first) }) };
}

// judgeAll asks about all messages of a scene. Lanes that got messages of their own are asked about
// alone.
/** @param {Scene} scene @returns {Promise<Tape>} */
export async function judgeAll(scene) {
  const { lanes, start, kept, piece } = scene;
  const all = [...kept, ...keep(piece?.made ?? [], start)].sort((a, b) => a.at - b.at);
  /** @type {Tape} */
  const tape = new Map();
  for (const group of groups(lanes, all)) {
    const messages = all.filter(({ lane }) => lane === undefined || lane === group[0].id).map(({ at, message }) => message ?? { at: start + at, user_id: user });
    if (messages.length === 0) continue;
    const answer = await judge({ ...question(group, scene), messages });
    for (const [id, strip] of tapeOf(group, messages, answer, start)) tape.set(id, strip);
  }
  return tape;
}

// keep returns messages of traffic as they stand beside those sent by hand.
/** @param {Message[]} made @param {number} start @returns {Kept[]} */
export const keep = (made, start) => made.map((message) => ({ at: message.at - start, message }));

// groups returns the lanes in groups that have the same messages.
/** @param {Lane[]} lanes @param {Sent[]} messages @returns {Lane[][]} */
export function groups(lanes, messages) {
  const own = new Set(messages.map(({ lane }) => lane));
  const shared = lanes.filter(({ id }) => !own.has(id));
  const single = lanes.filter(({ id }) => own.has(id)).map((lane) => [lane]);
  return shared.length > 0 ? [shared, ...single] : single;
}

/** @param {Lane[]} lanes @param {Scene} of @returns {Question} */
const question = (lanes, { timezone, move, start }) => ({
  lanes: lanes.map(({ limits }) => ({ limits })),
  ...(timezone && { timezone }),
  ...(move && { move: { at: start + move.at, timezone: move.timezone } }),
});

/** @param {Lane[]} lanes @param {Message[]} messages @param {Answer} answer @param {number} start @returns {Tape} */
const tapeOf = (lanes, messages, answer, start) => new Map(lanes.map(({ id }, i) => [id, stripOf(messages, answer.lanes[i], start)]));

// startPiece returns a new piece of traffic, or null if it is sent by hand or its numbers are wrong.
/** @param {Traffic} traffic @param {number} from @returns {Piece | null} */
export const startPiece = (traffic, from) => (traffic.kind === "hand" || !isClear(traffic) ? null : { from, until: from, traffic, made: [] });
