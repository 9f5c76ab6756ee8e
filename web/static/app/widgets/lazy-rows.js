// @ts-check
// Drawing only the visible rows of a long list, so that thousands cost no more than dozens. All
// rows have the same height, which is a custom property.

import { useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";

const spare = 8; // rows drawn above and below the screen

// rowHeight is the height of a row in px. It is known before the first row is drawn, so that no row
// glides into place.
/** @param {string} property */
const rowHeight = (property) => parseFloat(getComputedStyle(document.documentElement).getPropertyValue(property));

// useLazyRows returns {body, first, count, height}. The height of a row is the value of a custom
// property, in px. body is the ref for the element that contains the rows. The caller draws count
// rows, beginning with the row whose index is first.
/** @param {string} [property] */
export function useLazyRows(property = "--row") {
  const body = useRef(null);
  const [view, setView] = useState(() => ({ first: 0, count: 40, height: rowHeight(property) }));
  const measure = (height = view.height) => {
    const first = Math.max(0, Math.floor(-body.current.getBoundingClientRect().top / height) - spare);
    const count = Math.ceil(innerHeight / height) + 2 * spare;
    setView((old) => (old.first === first && old.count === count && old.height === height ? old : { first, count, height }));
  };
  useLayoutEffect(() => {
    const scrolled = () => measure();
    const resized = () => measure(rowHeight(property));
    scrolled();
    addEventListener("scroll", scrolled, { passive: true });
    addEventListener("resize", resized);
    addEventListener("themechange", resized); // also when the density changes
    return () => {
      removeEventListener("scroll", scrolled);
      removeEventListener("resize", resized);
      removeEventListener("themechange", resized);
    };
  }, [view.height]);
  return { body, ...view };
}
