// @ts-check
// Ignoring answers that arrive after the answer to a later request.

// inOrder returns a function to call at each request. That call returns a second function, to call
// when the answer arrives. It returns false if a later request has already been answered.
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
