// @ts-check
// Naming one mark of a lane: by the pointer or by the arrow keys.

import { placeOf } from "./draw/marks.js";
import { firstShown } from "./draw/view.js";
import { nameOf } from "./names.js";
import { played } from "./player.js";
import { say } from "./log.js";
import { draw, places, timeNow, viewsOf } from "./stage.js";
import { lab } from "./state.js";
import { emptyStrip } from "./tape.js";
/** @import { Lane } from "./state.js" */

// chooseMark names an entry of a lane; -1 names none. isTold says that it is announced.
/** @param {number} id @param {number} index @param {boolean} isTold */
export function chooseMark(id, index, isTold) {
  const place = places.get(id);
  if (!place) return;
  if (place.chosen === index && index < 0) return;
  place.chosen = index;
  showName(id);
  if (isTold) say(document.getElementById(`mark-${id}`).textContent);
  draw();
}

const half = 130; // px of the widest name

// showName writes the name of the chosen entry beside its mark.
/** @param {number} id */
export function showName(id) {
  const label = document.getElementById(`mark-${id}`), lane = lab.lanes.find((lane) => lane.id === id);
  const { chosen, width } = places.get(id);
  const entry = (played.tape.get(id) ?? emptyStrip).entries[chosen];
  const at = entry && placeOf(viewsOf(lane, timeNow())[0], chosen);
  label.hidden = !at;
  if (!at) return;
  label.textContent = nameOf(entry, timeNow());
  label.style.left = `${Math.min(Math.max(at.left, half), Math.max(half, width - half))}px`;
  label.style.top = `${at.top}px`;
}

/** @type {Record<string, (last: number, chosen: number, first: number) => number>} */
const moves = {
  ArrowLeft: (last, chosen, first) => (chosen < 0 ? last : Math.max(first, chosen - 1)),
  ArrowRight: (last, chosen, first) => (chosen < 0 ? first : Math.min(last, chosen + 1)),
  Home: (_last, _chosen, first) => first,
  End: (last) => last,
  Escape: () => -1,
};

// moveMark names the entry before or after the one that is named.
/** @param {KeyboardEvent} event @param {Lane} lane */
export function moveMark(event, lane) {
  const move = moves[event.key];
  if (!move || event.altKey || event.ctrlKey || event.metaKey) return;
  const [view] = viewsOf(lane, timeNow());
  const first = firstShown(view);
  if (view.last < first) return;
  event.preventDefault();
  chooseMark(lane.id, move(view.last, places.get(lane.id).chosen, first), true);
}
