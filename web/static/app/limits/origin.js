// @ts-check
// The place where unchanged limits come from: the configuration file, or the code of the server that
// chatguard is a part of.

import { t } from "../../text/text.js";
import { state } from "../core/state.js";
/** @import { TextKey } from "../../text/text.js" */

// originText returns the one of two texts that names the place.
/** @param {TextKey} file @param {TextKey} code */
export const originText = (file, code) => t(state.me.mounted ? code : file);
