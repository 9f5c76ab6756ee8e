// Answers that come in another order than they were asked for.

// inOrder returns what to call when something is asked for. What that returns is called when the answer has come, and reports whether none that
// came before is newer.
export function inOrder() {
  let asked = 0, latest = 0;
  return () => {
    const turn = ++asked;
    return () => {
      if (turn < latest) return false;
      latest = turn;
      return true;
    };
  };
}
