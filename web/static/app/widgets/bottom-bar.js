// @ts-check
// A bar that stays in sight at the bottom of the page.

import { useLayoutEffect, useRef } from "../../vendor/htm-preact.js";

// useBottomBar returns the ref of such a bar. What gets the focus is scrolled above the bar, however
// high it is.
export function useBottomBar() {
  const bar = useRef(null);
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => style.setProperty("--bottom-bar", `${bar.current.offsetHeight}px`));
    observer.observe(bar.current);
    return () => {
      observer.disconnect();
      style.removeProperty("--bottom-bar");
    };
  }, []);
  return bar;
}
