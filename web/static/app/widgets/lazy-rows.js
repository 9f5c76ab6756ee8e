// @ts-check
// Drawing only the visible rows of a long list, so that thousands cost no more than dozens. All
// rows are --row high.

import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";

const spare = 8; // rows drawn above and below the screen

// rowHeight is the height of a row in px. It is known before the first row is drawn, so that no row
// glides into place.
const rowHeight = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));

// useLazyRows returns {body, first, count, height}. body is the ref for the element that contains
// the rows. The caller draws count rows, beginning with the row whose index is first.
export function useLazyRows() {
  const body = useRef(null);
  const [view, setView] = useState(() => ({ first: 0, count: 40, height: rowHeight() }));
  const measure = () => {
    const height = rowHeight();
    const first = Math.max(0, Math.floor(-body.current.getBoundingClientRect().top / height) - spare);
    const count = Math.ceil(innerHeight / height) + 2 * spare;
    setView((old) => (old.first === first && old.count === count && old.height === height ? old : { first, count, height }));
  };
  useLayoutEffect(measure, []);
  useEffect(() => {
    addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, []);
  return { body, ...view };
}
