// @ts-check
// The page shown if the address names a page that doesn't exist, or a channel that the user can't
// open.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { linkTo, pages } from "../core/route.js";
/** @import { State } from "../core/state.js" */

/** @param {{state: State}} props */
export const MissingPage = ({ state }) => html`
  <div class="page-head"><h1 class="title">${t("shell.missing")}</h1></div>
  <p>${t(state.isUnknown ? "shell.missing-page" : "shell.missing-channel")}</p>
  <p><a href=${linkTo(state, "now")}>${t("shell.go-to", { page: pages.now })}</a></p>
`;
