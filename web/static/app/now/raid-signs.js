// @ts-check
// The proposal of raid mode, if the channel looks raided. It lies over the page, so that no row
// moves, and leaves the buttons of the rows free.

import { number, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { mayModerate, raidID, raidSignsOf, update } from "../core/state.js";
import { turn } from "./switches.js";
import { useBottomBar } from "../widgets/bottom-bar.js";
import { Icon } from "../widgets/icon.js";
/** @import { State } from "../core/state.js" */

// RaidSigns is always there, so that a screen reader announces its title. The numbers, which grow
// during a raid, are not announced.
/** @param {{state: State}} props */
export function RaidSigns({ state }) {
  const signs = mayModerate() && state.feed.state !== "lost" ? raidSignsOf(state) : null;
  const bar = useBottomBar();
  return html`
    <section ref=${bar} class=${signs ? "raid-signs" : "unseen"} aria-labelledby="raid-signs">
      <p id="raid-signs" role="status">${signs && html`<${Icon} name="raid" /><strong>${t("shell.raid-signs")}</strong>`}</p>
      ${signs && html`<${Proposal} state=${state} signs=${signs} />`}
    </section>
  `;
}

/** @param {{state: State, signs: NonNullable<Api.Channel["raid_signs"]>}} props */
function Proposal({ state, signs: { messages, times, suspicious } }) {
  const { busy = false, problem = "" } = state.pressed.raid ?? {};
  const percent = Math.round((100 * suspicious) / messages);
  /** @param {MouseEvent} event */
  const start = (event) => {
    leave(event);
    turn("raid", "on", state.raidLength);
  };
  /** @param {MouseEvent} event */
  const dismiss = (event) => {
    leave(event);
    update((s) => (s.dismissedRaid = raidID(s.channels.find(({ id }) => id === s.channel))));
  };
  return html`
    <p>${times ? t("now.raid-times", { times: number.format(times), percent }) : t("now.raid-count", { messages: number.format(messages), percent })}</p>
    ${problem && html`<p class="bad">${problem}</p>`}
    <button type="button" class="primary" aria-disabled=${busy ? "true" : "false"} onClick=${start}>${t("shell.raid-start")}</button>
    <button type="button" class="icon-only" aria-label=${t("now.raid-dismiss")} title=${t("now.raid-dismiss")} onClick=${dismiss}><${Icon} name="close" /></button>
  `;
}

// leave moves the keyboard's focus to the switch, because the pressed button goes. A mouse leaves
// it alone: the focus would scroll the page.
/** @param {MouseEvent} event */
const leave = ({ detail }) => detail === 0 && update((s) => (s.focus = "raid"));
