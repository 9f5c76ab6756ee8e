// The text of what a component draws, for tests that run without a browser.

/**
 * viewText returns the text of a view, without its tags.
 * @param {any} view
 * @returns {string}
 */
export function viewText(view) {
  if (view === null || view === undefined || typeof view === "boolean") return "";
  if (Array.isArray(view)) return view.map(viewText).join("");
  if (typeof view !== "object") return String(view);
  if (typeof view.type === "function") return viewText(view.type(view.props));
  return viewText(view.props.children);
}

/**
 * at sets the clock while a function runs.
 * @param {string} time
 * @param {() => void} run
 */
export function at(time, run) {
  const { now } = Date;
  Date.now = () => Date.parse(time);
  try {
    run();
  } finally {
    Date.now = now;
  }
}
