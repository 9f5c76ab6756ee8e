// @ts-check
// The messages of a scene: those sent by hand, and those of automatic traffic. It asks the engine
// about all of them, and keeps the tape that comes back.

import { isText } from "../app/words/scopes.js";
import { lineOf } from "./chat/people.js";
import { judge, mostMessages } from "./engine.js";
import { byHand, stripOf } from "./tape.js";
import { asked, isClear, kinds, lengthOf, rateOf, stretchOf } from "./traffic.js";
/** @import { Mistake } from "../app/core/api.js" */
/** @import { Answer, Message, Question } from "./engine.js" */
/** @import { Gift, Lane, Move, Sent, Traffic } from "./state.js" */
/** @import { Tape } from "./tape.js" */

/** @typedef {Error & {status?: number, mistake?: Mistake, lane?: Lane}} Failure lane is the one with the mistake */

/** @typedef {Sent & {message?: Message}} Kept message is what traffic made; others are sent by hand */

/**
 * Piece is a stretch of automatic traffic. made are its messages so far, made by the server: those
 * before the time until.
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
 * @property {Gift[]} grants
 * @property {Piece | null} piece the automatic traffic that goes on
 */

const spare = 500; // messages that can still be sent by hand when automatic traffic ends

// untilWithin returns the wanted time, or an earlier time at which the piece must end so that the
// scene has no more messages than the engine accepts.
/** @param {Scene} scene @param {number} wanted */
export function untilWithin({ kept, piece }, wanted) {
  const room = mostMessages - spare - kept.length;
  const end = piece.from + Math.min(lengthOf(piece.traffic), room / rateOf(piece.traffic));
  return Math.min(wanted, end);
}

// extend asks the server for a piece's traffic up to the wanted time, and returns the piece with
// this traffic. If nothing was sent before, it also returns the tape.
/** @param {Scene} scene @param {number} wanted @returns {Promise<{piece: Piece, tape?: Tape, start: number}>} */
export async function extend(scene, wanted) {
  const { lanes, start, kept, piece } = scene;
  const { traffic, from } = piece;
  const until = untilWithin(scene, wanted);
  if (kinds[traffic.kind].isRecorded) return extendRecorded(scene);
  const stretch = { from: new Date(start + from).toISOString(), for: `${Math.ceil(until - from)}ms` };
  const answer = await judgeLanes(lanes, scene, { traffic: { ...asked(traffic), ...stretch } });
  const made = answer.messages ?? [];
  return { piece: { ...piece, until, made }, start, ...(kept.length === 0 && { tape: tapeOf(lanes, made, answer, scene) }) };
}

// extendRecorded asks for all recorded traffic of a piece. The scene then starts with the first
// recorded message. A piece that begins later belongs to the same recording.
/** @param {Scene} scene @returns {Promise<{piece: Piece, tape?: Tape, start: number}>} */
async function extendRecorded(scene) {
  const { lanes, kept, piece } = scene;
  const { traffic, from } = piece;
  const stretch = stretchOf(from > 0 ? { ...traffic, from: new Date(scene.start).toISOString() } : traffic);
  const answer = await judgeLanes(lanes, scene, { traffic: { ...asked(traffic), ...stretch } });
  const messages = answer.messages ?? [];
  const start = from > 0 ? scene.start : (messages[0]?.at ?? scene.start);
  const made = messages.filter(({ at }) => from === 0 || at - start > from);
  const isAll = kept.length === 0 && made.length === messages.length;
  return { piece: { ...piece, until: Infinity, made }, start, ...(isAll && { tape: tapeOf(lanes, made, answer, { ...scene, start }) }) };
}

// judgeAll asks about all messages of a scene. For a lane with messages of its own, it asks a
// separate question.
/** @param {Scene} scene @returns {Promise<Tape>} */
export async function judgeAll(scene) {
  const { lanes, start, kept, piece } = scene;
  const all = [...kept, ...keep(piece?.made ?? [], start)].sort((a, b) => a.at - b.at);
  /** @type {Tape} */
  const tape = new Map();
  for (const group of groups(lanes, all)) {
    const messages = all.filter(({ lane }) => lane === undefined || lane === group[0].id).map(({ at, message }) => message ?? { at: start + at, user_id: byHand, text: lineOf(at) });
    if (messages.length === 0 && grantsOf(group.map(({ id }) => id), scene.grants).length === 0) continue;
    const answer = await judgeLanes(group, scene, { messages: messages.map((message) => shortened(message, group)) });
    for (const [id, strip] of tapeOf(group, messages, answer, scene)) tape.set(id, strip);
  }
  return tape;
}

// shortened removes the login of a message that is sent to the server again, and its text or print
// unless a limit of the lanes compares it, because they could make the question longer than the
// server accepts.
/** @param {Message} message @param {Lane[]} lanes @returns {Message} */
function shortened({ login: _, text, print, ...message }, lanes) {
  return { ...message, ...(comparesTexts(lanes) && { text, print }) };
}

// keep returns messages of traffic in the form of those sent by hand.
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

// judgeLanes asks about lanes. If a value of a lane is refused, the error names the lane.
/** @param {Lane[]} lanes @param {Scene} scene @param {Partial<Question>} about @returns {Promise<Answer>} */
async function judgeLanes(lanes, scene, about) {
  try {
    return await judge({ ...question(lanes, scene), ...about });
  } catch (problem) {
    throw Object.assign(problem, { lane: lanes[problem.mistake?.lane - 1] });
  }
}

/** @param {Lane[]} lanes @param {Scene} scene @returns {Question} */
const question = (lanes, { timezone, move, start, grants }) => ({
  lanes: lanes.map(({ id, limits }) => {
    const own = grantsOf([id], grants).map(({ at, user, messages }) => ({ at: start + at, user_id: user, messages }));
    return { limits, ...(own.length > 0 && { grants: own }) };
  }),
  ...(timezone && { timezone }),
  ...(move && { move: { at: start + move.at, timezone: move.timezone } }),
});

// grantsOf returns those of the grants that lanes get.
/** @param {number[]} ids of the lanes @param {Gift[]} grants */
const grantsOf = (ids, grants) => grants.filter(({ lane }) => ids.includes(lane));

/** @param {Lane[]} lanes @param {Message[]} messages @param {Answer} answer @param {Pick<Scene, "start" | "grants">} of @returns {Tape} */
const tapeOf = (lanes, messages, answer, { start, grants }) => new Map(lanes.map(({ id }, i) => [id, stripOf(messages, answer.lanes[i], start, grantsOf([id], grants))]));

// withoutText returns how many messages of automatic traffic have no text, if a limit compares
// texts.
/** @param {Lane[]} lanes @param {Piece | null | undefined} of */
export const withoutText = (lanes, of) => (comparesTexts(lanes) ? (of?.made ?? []).filter(({ text, print }) => !text && !print).length : 0);

// comparesTexts reports whether a limit of the lanes is on repeated text.
/** @param {Lane[]} lanes */
const comparesTexts = (lanes) => lanes.some(({ limits }) => limits.some(isText));

// startPiece returns a new piece of traffic, or null if it is sent by hand or its numbers are
// wrong.
/** @param {Traffic} traffic @param {number} from @returns {Piece | null} */
export const startPiece = (traffic, from) => (traffic.kind === "hand" || !isClear(traffic) ? null : { from, until: from, traffic, made: [] });
