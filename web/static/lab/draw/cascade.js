// @ts-check
// A cascade: two token buckets. The second pays, at low priority, when the first has too little.

import { t } from "../../text/text.js";
import { drawLevel, levelAt, tokensText } from "./level.js";
import { cells, gauge, pictureAt } from "./view.js";
/** @import { Bucket } from "./level.js" */
/** @import { Drawing, Moment } from "./view.js" */

/** @param {Moment} v @returns {Bucket} */
const normal = ({ numbers: { burst, refill } }) => ({ capacity: burst, refill, after: (v, i) => pictureAt(v, i).tokens ?? burst });

/** @param {Moment} v @returns {Bucket} */
const low = ({ numbers: { extra_burst: burst, extra_refill: refill } }) => ({ capacity: burst, refill, after: (v, i) => pictureAt(v, i).extra_tokens ?? burst });

/** @type {Drawing<{tokens: number, extra: number}>} */
export const cascade = {
  at: (v) => ({ tokens: levelAt(v, normal(v)), extra: levelAt(v, low(v)) }),
  words: ({ tokens, extra }) => t("lab.cascade", { normal: tokensText(tokens), low: tokensText(extra) }),
  wait: ({ tokens, extra }, { numbers }) => Math.max(0, Math.min((1 - tokens) * numbers.refill, (1 - extra) * numbers.extra_refill)),
  draw: (v, { tokens, extra }) => {
    const half = v.height / 2;
    drawLevel(v, normal(v), "accent", v.top + 3, half - 5);
    drawLevel(v, low(v), "low", v.top + half + 2, half - 5);
    const place = gauge(v);
    cells(v, "accent", tokens, v.numbers.burst, { ...place, top: v.top + 3, height: half - 5 });
    cells(v, "low", extra, v.numbers.extra_burst, { ...place, top: v.top + half + 2, height: half - 5 });
  },
};
