// @ts-check
// A form that would lose what was typed if the page is closed, or is loaded again for another
// language.

import { useEffect } from "../../vendor/htm-preact.js";

// useWarning lets the browser ask before it leaves the page, while something is typed.
/** @param {boolean} isTyped */
export function useWarning(isTyped) {
  useEffect(() => {
    if (!isTyped) return;
    const warn = (/** @type {Event} */ event) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isTyped]);
}
