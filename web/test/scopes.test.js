// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";

import { isAcrossChannels, isShared, isText } from "../static/app/words/scopes.js";

test("scopes: who shares a limit, and where", () => {
  const scopes = [undefined, "user", "user-everywhere", "channel", "everywhere", "user-text", "text"].map((per) => ({ per }));
  assert.deepEqual(scopes.filter(isShared).map(({ per }) => per), ["channel", "everywhere"]);
  assert.deepEqual(scopes.filter(isAcrossChannels).map(({ per }) => per), ["user-everywhere", "everywhere"]);
  assert.deepEqual(scopes.filter(isText).map(({ per }) => per), ["user-text", "text"]);
});
