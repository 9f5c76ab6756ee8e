// @ts-check
// A page that loads this module ignores clicks that nobody means: the second click of a double
// click, which would undo the first or hit what the first has moved, and a click on what has come
// under a mouse at rest just now, because the page has changed. It also ignores that a held Enter
// key repeats itself.

const pause = 500; // ms: so fast is a second tap, and a click on something that the person hasn't seen yet
const reach = 24; // between the taps of a double tap, px; a mouse that has moved so far was moved on purpose
const jitter = 4; // what a hand at rest moves a mouse, px

// under is the control under the mouse; since is when it came there by itself, ms, and from is where
// the mouse was then.
let under = { x: NaN, y: NaN, control: /** @type {Element | null} */ (null), since: NaN, from: { x: NaN, y: NaN } };

// press is the last press of a button or a finger, and whether its click is ignored.
let press = { x: NaN, y: NaN, at: NaN, isUnmeant: false };

// look notes what is under the mouse. Browsers also send such an event if only the page has moved.
/** @param {PointerEvent} event */
function look({ target, clientX: x, clientY: y, pointerType, timeStamp: at }) {
  if (pointerType !== "mouse") return;
  const control = controlOf(target);
  if (control !== under.control) under = { x, y, control, since: hasComeTo(x, y) ? at : NaN, from: { x, y } };
  else under = { ...under, x, y, since: Math.hypot(x - under.from.x, y - under.from.y) < reach ? under.since : NaN };
}

/** @param {EventTarget | null} target */
const controlOf = (target) => /** @type {Element | null} */ (target)?.closest?.("a, button, input, label, select, summary, [role=option]");

// hasComeTo reports whether another control has come to the mouse, not the mouse to it.
/** @param {number} x @param {number} y */
function hasComeTo(x, y) {
  const way = Math.hypot(x - under.x, y - under.y);
  return way === 0 || (way < jitter && controlOf(document.elementFromPoint(under.x, under.y)) !== under.control);
}

// forget is called if the person has moved the page.
const forget = () => (under.x = NaN);

/** @param {Event} event */
function ignore(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

addEventListener("scroll", forget, true);
addEventListener("pointermove", look, true);
addEventListener("pointerover", look, true);
addEventListener("pointerdown", (event) => {
  look(event);
  const { clientX: x, clientY: y, pointerType, timeStamp: at } = event;
  const isUnmeant = pointerType === "mouse" ? at - under.since < pause : at - press.at < pause && Math.hypot(x - press.x, y - press.y) < reach;
  press = { x, y, at, isUnmeant };
}, true);

addEventListener("keydown", (event) => {
  forget();
  if (event.repeat && event.key === "Enter" && !/** @type {Element} */ (event.target).matches?.("textarea")) ignore(event); // a text gets new lines
}, true);

// detail counts the clicks of a mouse by the person's own double-click speed. A click by the
// keyboard has 0.
addEventListener("click", (event) => (event.detail > 1 || (event.detail && press.isUnmeant)) && ignore(event), true);
