// The texts of the pages, for tests without a browser: fetch reads the files of the pages, which
// Node's fetch doesn't.

import { readFileSync } from "node:fs";

globalThis.fetch = async (address) => new Response(readFileSync(address));

export * from "../static/text/text.js";
