// Gives the modules under test the algorithms that chatguard lists, which the page loads before it
// shows limits. A test imports it for this effect.

import { readFileSync } from "node:fs";
import { state } from "./static/app/core/state.js";

state.algorithms = JSON.parse(readFileSync(new URL("test/algorithms.json", import.meta.url), "utf8")).algorithms;
