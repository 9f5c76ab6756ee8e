// @ts-check
// Answers that arrive in another order than their requests.

// inOrder returns a function to call with each request. That returns a function to call with the
// answer, which reports whether no answer to a later request came before.
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
