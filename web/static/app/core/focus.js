// @ts-check
// A page that loads this module keeps the keyboard's focus near its place. If the focused control
// disappears or is disabled, the focus goes to the part of the page around it. Tab continues there.
// A page that moves the focus itself when it removes a control comes first.

const parts = "li, form, fieldset, dialog, section, [role=group], [role=row], [role=table], main";

/** @type {Element[]} */
let path = []; // the element that has the focus, and what is around it, from the inside out

// isSeen reports whether a whole element is in the window, and no bar covers it.
/** @param {Element} element */
export function isSeen(element) {
  const { left, top, bottom, width } = element.getBoundingClientRect();
  return [top + 2, bottom - 2].every((y) => element.contains(document.elementFromPoint?.(left + width / 2, y)));
}

/** @param {Element | undefined} element */
const isUsable = (element) => element !== undefined && element.isConnected && !element.matches(":disabled");

addEventListener("focusin", ({ target }) => {
  path = [];
  for (let around = /** @type {Element | null} */ (target); around; around = around.parentElement) path.push(around);
});

// A person who clicks beside all controls has left them. Browsers may also tell of a control that
// is about to be removed; it is gone when the microtask runs.
addEventListener("focusout", () => queueMicrotask(() => document.activeElement === document.body && isUsable(path[0]) && (path = [])));

function keep() {
  const has = document.activeElement ?? document.body;
  if (path.length === 0 || isUsable(path[0]) || (has !== document.body && isUsable(has))) return;
  const around = path.slice(1).filter((part) => isUsable(part) && part.matches(parts));
  [...around, document.querySelector("main")].some((part) => part && takes(/** @type {HTMLElement} */ (part)));
}

// takes gives a part the focus, and reports whether it has it: a hidden part takes none.
/** @param {HTMLElement} part */
function takes(part) {
  const isMade = !part.hasAttribute("tabindex");
  if (isMade) part.tabIndex = -1;
  part.focus({ preventScroll: true });
  const has = document.activeElement === part;
  if (isMade && has) part.addEventListener("blur", () => part.removeAttribute("tabindex"), { once: true });
  else if (isMade) part.removeAttribute("tabindex");
  return has;
}

new MutationObserver(keep).observe(document, { childList: true, subtree: true, attributeFilter: ["disabled"] });
