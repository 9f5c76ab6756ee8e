// @ts-check
// The engine's algorithms and their parameters, which the fields of limits are made of.

import { request } from "./api.js";
import { state, update } from "./state.js";

/** @type {Promise<void> | null} */
let loading = null;

// loadAlgorithms fetches the algorithms unless they are known. Every page that shows numbers of
// limits in fields waits for it.
export function loadAlgorithms() {
  if (state.algorithms.length > 0) return Promise.resolve();
  loading ??= fetchAlgorithms().finally(() => (loading = null));
  return loading;
}

async function fetchAlgorithms() {
  const { body } = await request("GET", "/algorithms");
  update((s) => (s.algorithms = body.algorithms));
}
