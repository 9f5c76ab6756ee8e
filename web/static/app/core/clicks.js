// @ts-check
// A page that loads this module ignores clicks that nobody means: the second click of a double
// click, which would undo the first or hit what the first has moved, and a click on what has come
// under a mouse at rest just now, because the page has changed. If the page has moved what was
// there before, such a click is ignored until the mouse moves: the person may still mean what was
// there. It also ignores that a held Enter key repeats itself.

const pause = 500; // ms: so fast is a second tap, and a click on something that the person hasn't seen yet
const reach = 24; // between the taps of a double tap, px; a mouse that has moved so far was moved on purpose
const jitter = 4; // what a hand at rest moves a mouse, px

// under is the element under the mouse, and its control; until is when that can be clicked, ms, if
// it came there by itself, and from is where the mouse was then.
let under = { x: NaN, y: NaN, target: /** @type {EventTarget | null} */ (null), control: /** @type {Element | null} */ (null), until: NaN, from: { x: NaN, y: NaN } };

// press is the last press of a button or a finger, and whether its click is ignored.
let press = { x: NaN, y: NaN, at: NaN, isUnmeant: false };

// look notes what is under the mouse. Browsers also send such an event if only the page has moved.
/** @param {PointerEvent} event */
function look({ target, clientX: x, clientY: y, pointerType, timeStamp: at }) {
  if (pointerType !== "mouse") return;
  const control = controlOf(target);
  if (control !== under.control) under = { x, y, target, control, until: !hasComeTo(x, y) ? NaN : hasLeft(under) && !isAnswer(x, y, at) ? Infinity : at + pause, from: { x, y } };
  else under = { ...under, x, y, target, until: Math.hypot(x - under.from.x, y - under.from.y) < reach ? under.until : NaN };
}

/** @param {EventTarget | null} target */
const controlOf = (target) => /** @type {Element | null} */ (target)?.closest?.("a, button, input, label, select, summary, [role=option]");

// hasComeTo reports whether another control has come to the mouse, not the mouse to it.
/** @param {number} x @param {number} y */
function hasComeTo(x, y) {
  const way = Math.hypot(x - under.x, y - under.y);
  return way === 0 || (way < jitter && controlOf(document.elementFromPoint(under.x, under.y)) !== under.control);
}

// hasLeft reports whether what was under the mouse is now elsewhere on the page, so that the page
// has moved it. What is drawn over it, or instead of it, doesn't.
/** @param {{x: number, y: number, target: EventTarget | null}} of */
function hasLeft({ x, y, target }) {
  const box = /** @type {Element | null} */ (target)?.getBoundingClientRect?.();
  return Boolean(box?.width) && (x < box.left || x >= box.right || y < box.top || y >= box.bottom);
}

// isAnswer reports whether the page has moved because the person has just clicked here.
/** @param {number} x @param {number} y @param {number} at */
const isAnswer = (x, y, at) => !press.isUnmeant && at - press.at < 2 * pause && Math.hypot(x - press.x, y - press.y) < reach;

// forget is called if the person has moved the page.
const forget = () => (under.x = NaN);

/** @param {Event} event */
function ignore(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

addEventListener("scroll", forget, true);
addEventListener("wheel", () => (under.until = NaN), { capture: true, passive: true });
addEventListener("pointermove", look, true);
addEventListener("pointerover", look, true);
addEventListener("pointerdown", (event) => {
  look(event);
  const { clientX: x, clientY: y, pointerType, timeStamp: at } = event;
  const isUnmeant = pointerType === "mouse" ? at < under.until : at - press.at < pause && Math.hypot(x - press.x, y - press.y) < reach;
  press = { x, y, at, isUnmeant };
}, true);

addEventListener("keydown", (event) => {
  forget();
  under.until = NaN;
  if (event.repeat && event.key === "Enter" && !/** @type {Element} */ (event.target).matches?.("textarea")) ignore(event); // a text gets new lines
}, true);

// detail counts the clicks of a mouse by the person's own double-click speed. A click by the
// keyboard has 0.
addEventListener("click", (event) => (event.detail > 1 || (event.detail && press.isUnmeant)) && ignore(event), true);
