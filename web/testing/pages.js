// Runs all tests of pages in one process, which loads the pages and the DOM once.

import { readdirSync } from "node:fs";

const folder = new URL("../test/pages/", import.meta.url);
for (const file of readdirSync(folder)) await import(new URL(file, folder));
