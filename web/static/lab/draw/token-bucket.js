// @ts-check
// A token bucket: tokens that refill one by one. A message takes one.

import { t } from "../../text/text.js";
import { spanText } from "../clock.js";
import { drawLevel, levelAt, tokensText } from "./level.js";
import { cells, gauge, pictureAt } from "./view.js";
/** @import { Bucket } from "./level.js" */
/** @import { Drawing, Moment } from "./view.js" */

/** @param {Moment} v @returns {Bucket} */
const bucketOf = ({ numbers: { burst, refill } }) => ({ capacity: burst, refill, after: (v, i) => pictureAt(v, i).tokens ?? burst });

/** @type {Drawing<number>} */
export const tokenBucket = {
  at: (v) => levelAt(v, bucketOf(v)),
  words: (tokens, { numbers: { burst, refill } }) =>
    tokens < burst
      ? t("lab.tokens-next", { tokens: tokensText(tokens), n: burst, time: spanText((Math.floor(tokens + 1e-9) + 1 - tokens) * refill) })
      : t("lab.tokens", { tokens: tokensText(tokens), n: burst }),
  wait: (tokens, { numbers: { refill } }) => Math.max(0, (1 - tokens) * refill),
  draw: (v, tokens) => {
    drawLevel(v, bucketOf(v), "accent", v.top + 4, v.height - 8);
    cells(v, "accent", tokens, v.numbers.burst, gauge(v));
  },
};
