// Drawing only those rows of a long list that are on the screen, so that thousands cost no more than dozens. All rows are --row high.

import { useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";

const spare = 8; // rows drawn above and below the screen

// The height of a row in px, which a narrow screen has larger: known before the first is drawn, so that none glides into place.
const rowHeight = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));

// useLazyRows returns {body, first, count, height}: body is the ref of the element that holds the rows, and only count of them from the first on
// are to be drawn.
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
