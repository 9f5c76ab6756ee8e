// @ts-check
// The keys: Space sends to all lanes, 1 to 8 to one, Enter lets the automatic traffic go on.

import { clock, resume, send } from "./player.js";
import { lab } from "./state.js";

// isTaken reports whether the focused element needs the key itself.
/** @param {EventTarget} target @param {string} key */
function isTaken(target, key) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("textarea, select, input:not([type=range])")) return true;
  return (key === " " || key === "Enter") && target.matches("button, a, summary");
}

/** @param {KeyboardEvent} event */
export function press(event) {
  const { key, target, altKey, ctrlKey, metaKey } = event;
  if (altKey || ctrlKey || metaKey || event.isComposing || isTaken(target, key)) return;
  const lane = /^[1-8]$/.test(key) ? lab.lanes[Number(key) - 1] : undefined;
  if (key === " ") send(clock.timeOf(event));
  else if (lane) send(clock.timeOf(event), lane.id);
  else if (key === "Enter") resume();
  else return;
  event.preventDefault(); // Space would scroll
}

// letGo takes the focus from a button that was clicked with the pointer, so that the next Space
// sends a message and doesn't press the button again.
/** @param {MouseEvent} event */
export function letGo({ detail, target }) {
  const button = target instanceof Element ? target.closest("button") : null;
  if (detail === 0 || !button || button.matches("[popovertarget]:not([popovertargetaction])")) return;
  setTimeout(() => document.activeElement instanceof HTMLButtonElement && document.activeElement.blur()); // a menu returns the focus first
}
