// Gives the modules under test the algorithms that chatguard lists, which the page loads before it
// shows limits. A test imports it for this effect, or for the list.

import { readFileSync } from "node:fs";
import { state } from "./static/app/core/state.js";

export const { algorithms } = JSON.parse(readFileSync(new URL("test/algorithms.json", import.meta.url), "utf8"));
state.algorithms = algorithms;
