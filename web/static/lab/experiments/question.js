// @ts-check
// A question of an experiment, asked when it is first shown and whenever its numbers change.

import { useEffect, useState } from "../../vendor/htm-preact.js";

/**
 * @template A
 * @typedef {{answer: A | null, problem: string}} Result answer stays while the next one is on its way
 */

// useAnswer asks, and asks again when one of the values changes. It ignores the answer to an older
// question.
/**
 * @template A
 * @param {() => Promise<A>} ask
 * @param {readonly unknown[]} values
 * @returns {Result<A>}
 */
export function useAnswer(ask, values) {
  const [result, show] = useState(/** @type {Result<A>} */ ({ answer: null, problem: "" }));
  useEffect(() => {
    let isCurrent = true;
    ask().then(
      (answer) => isCurrent && show({ answer, problem: "" }),
      (problem) => isCurrent && show(({ answer }) => ({ answer, problem: problem.message })),
    );
    return () => {
      isCurrent = false;
    };
  }, values);
  return result;
}
