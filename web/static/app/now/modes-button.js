// @ts-check
// The button that says which modes of the channel's chat are on, and opens the dialog of them.

import { commas, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { openDialog } from "../core/dialog.js";
import { mayModerate } from "../core/state.js";
import { Icon } from "../widgets/icon.js";
import { modeNames, modesOn, modeTitles } from "../words/modes.js";
/** @import { State } from "../core/state.js" */

// hasModes reports whether the person can switch the modes of the channel's chat.
/** @param {State} state */
export const hasModes = ({ channels, channel }) => mayModerate() && Boolean(channels.find((c) => c.id === channel)?.acts);

// modesHere returns the modes of the channel's chat; undefined if they aren't known, as while the
// connection is lost.
/** @param {State} state */
export const modesHere = ({ feed, channels, channel }) => (feed.state === "lost" ? undefined : channels.find((c) => c.id === channel)?.modes);

// ModesButton has the same width whatever is on, so that nothing moves.
/** @param {{state: State}} props */
export function ModesButton({ state }) {
  if (!hasModes(state)) return null;
  const modes = modesHere(state);
  const on = modes && modesOn(modes);
  const all = !on ? t("now.modes-unknown") : on.length > 0 ? commas(on) : t("now.modes-off");
  const says = on?.length > 1 ? commas(modeNames.filter((mode) => modes[mode]).map((mode) => modeTitles[mode])) : all; // without numbers, for room
  return html`
    <button type="button" id="modes" class=${on?.length > 0 ? "some" : ""} aria-haspopup="dialog" title=${t("now.modes-title", { modes: all })} onClick=${() => openDialog("modes")}>
      <${Icon} name="message" /> <span class="label">${t("now.modes")}</span> <span class="says">${says}</span>
    </button>
  `;
}
