// @ts-check
// What Escape closes: one thing at a time, the innermost around the focus or else the newest.
// Modal dialogs and popovers are closed by the browser.

import { useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { update } from "./state.js";

/** @typedef {{place: {current: Element | null}, close: () => void}} Opened */

/** @type {Opened[]} */
const opened = []; // oldest first

// useEscape makes Escape close what a component shows, while it is shown. It returns the ref for
// the element. The focus returns to the element whose ID is opener.
/** @param {() => void} close @param {string} opener */
export function useEscape(close, opener) {
  const place = useRef(null);
  const latest = useRef(close);
  latest.current = close;
  useLayoutEffect(() => {
    const one = { place, close: () => {
      latest.current();
      update((s) => (s.focus = opener));
    } };
    opened.push(one);
    return () => void opened.splice(opened.indexOf(one), 1);
  }, []);
  return place;
}

// closeOpened closes what is open around an element. If the element is no field, it otherwise
// closes the newest form or question. It reports whether anything was closed.
/** @param {Element} element */
export function closeOpened(element) {
  const around = opened.findLast(({ place }) => place.current?.contains(element));
  const fold = element.closest("details[open], [aria-expanded=true]");
  if (fold && (!around || around.place.current.contains(fold))) {
    shut(fold);
    return true;
  }
  const one = around ?? (element.matches("input, select, textarea") ? undefined : opened.at(-1));
  one?.close();
  return one !== undefined;
}

// shut closes a disclosure. Its button or summary has the focus then.
/** @param {Element} fold */
function shut(fold) {
  if (fold.localName !== "details") return /** @type {HTMLElement} */ (fold).click();
  /** @type {HTMLDetailsElement} */ (fold).open = false;
  fold.querySelector("summary").focus();
}
