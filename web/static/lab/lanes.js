// @ts-check
// The lanes: rows with the name of the algorithm, what happened, and the state now. What changes
// with time is drawn by the stage and written by texts.js.

import { t } from "../text/text.js";
import { html, useEffect, useRef } from "../vendor/htm-preact.js";
import { Icon } from "../app/widgets/icon.js";
import { nearest } from "./draw/marks.js";
import { EditLane } from "./edit.js";
import { titleOf } from "./limits.js";
import { say } from "./log.js";
import { grant, oneGrant } from "./player.js";
import { chooseMark, moveMark } from "./pointer.js";
import { ruleOf } from "../app/words/rules.js";
import { isShared, isText } from "../app/words/scopes.js";
import { enter, places, timeNow, viewsOf } from "./stage.js";
import { Sender } from "./sender.js";
import { change } from "./state.js";
/** @import { Lane, Limit, Setup, More } from "./state.js" */

/** @param {{lab: Setup & More}} props */
export function Lanes({ lab }) {
  if (lab.lanes.length === 0) return html`<div class="nobody"><p class="headline">${t("lab.no-lanes")}</p><p>${t("lab.add-one")}</p></div>`;
  return html`
    <${Axis} />
    <ol class="lanes">
      ${lab.lanes.map((lane, i) => html`<${LaneRow} key=${lane.id} lane=${lane} number=${i + 1} isEdited=${lab.edited === lane.id} hasHint=${i === 0 && lab.traffic.kind === "hand"} timezone=${lab.move?.timezone ?? lab.timezone} />`)}
    </ol>
  `;
}

function Axis() {
  const canvas = useRef(null);
  useEffect(() => enter(0, canvas.current), []);
  return html`<div class="axis lane-grid" aria-hidden="true"><canvas ref=${canvas} height="20"></canvas></div>`;
}

/** @param {{lane: Lane, number: number, isEdited: boolean, hasHint: boolean, timezone: string}} props */
function LaneRow({ lane, number, isEdited, hasHint, timezone }) {
  const title = titleOf(lane);
  return html`
    <li class="lane" id=${`lane-${number}`}>
      <div class="lane-grid">
        <div class="lane-head">
          <h2>${title}</h2>
          ${lane.limits.map((limit) => html`<p class="muted rule">${ruleOf(limit, timezone)}</p>`)}
          <div class="together lane-actions">
            <${Sender} lane=${lane.id} label=${t("lab.send-to", { number })} keys=${number <= 8 ? String(number) : ""}>${t("lab.send")}<//>
            ${lane.limits.some(isOwn) && html`<button type="button" class="quiet grant" aria-label=${t("lab.grant-to", { n: oneGrant, number })} title=${t("lab.grant-about")} onClick=${() => give(lane, number)}>${t("lab.grant", { n: oneGrant })}</button>`}
            <button type="button" class="quiet edit" aria-expanded=${isEdited ? "true" : "false"} aria-label=${t("lab.edit-lane", { number, lane: title })} onClick=${() => change((l) => (l.edited = isEdited ? 0 : lane.id))}>
              <${Icon} name="sliders" />${t("lab.edit")}
            </button>
          </div>
        </div>
        <${Timeline} lane=${lane} number=${number} title=${title} hasHint=${hasHint} />
        <div class="lane-state">
          ${lane.limits.map((_, i) => html`<p class="state-words" id=${`words-${lane.id}-${i}`} key=${i}></p>`)}
          <p class="wait" id=${`wait-${lane.id}`}></p>
          <p class="muted tally" id=${`tally-${lane.id}`}></p>
        </div>
      </div>
      ${isEdited && html`<${EditLane} lane=${lane} number=${number} />`}
    </li>
  `;
}

// isOwn reports whether a limit counts each user apart. Nobody is granted messages in others.
/** @param {Limit} limit */
const isOwn = (limit) => !isShared(limit) && !isText(limit);

/** @param {Lane} lane @param {number} number */
function give(lane, number) {
  grant(lane.id);
  say(t("lab.granted-in", { n: oneGrant, number }));
}

// Timeline is the picture of a lane. Arrow keys and the pointer name its marks.
/** @param {{lane: Lane, number: number, title: string, hasHint: boolean}} props */
function Timeline({ lane, number, title, hasHint }) {
  const canvas = useRef(null);
  useEffect(() => enter(lane.id, canvas.current), []);
  /** @param {PointerEvent} event */
  const point = (event) => {
    const place = places.get(lane.id);
    if (place.width > 0) chooseMark(lane.id, nearest(viewsOf(lane, timeNow())[0], event.offsetX, event.offsetY), false);
  };
  return html`
    <div class="timeline" tabindex="0" role="img" aria-label=${t("lab.messages-of", { number, lane: title })} onKeyDown=${(event) => moveMark(event, lane)} onBlur=${() => chooseMark(lane.id, -1, false)}>
      <canvas ref=${canvas} aria-hidden="true" onPointerMove=${point} onPointerLeave=${() => chooseMark(lane.id, -1, false)}></canvas>
      ${hasHint && html`<p class="nothing-sent muted" id="nothing-sent" hidden>${t("lab.nothing-sent")}</p>`}
      <p class="mark-name" id=${`mark-${lane.id}`} hidden></p>
    </div>
  `;
}
