// @ts-check
// The story of a scene: its title, two sentences, and a task with how far it is.

import { sentences, t } from "../text/text.js";
import { html, useEffect, useState } from "../vendor/htm-preact.js";
import { Icon } from "../app/widgets/icon.js";
import { say } from "./log.js";
import { clock, played, refresh } from "./player.js";
import { timeNow } from "./stage.js";
import { change, lab } from "./state.js";
import { emptyStrip, lastBy } from "./tape.js";
/** @import { Scene } from "./scenes.js" */
/** @import { More, Setup } from "./state.js" */

const checkEvery = 250; // ms

/** @param {{scene: Scene, lab: Setup & More}} props */
export function Story({ scene, lab: { move: moved, isSolved, traffic } }) {
  const { id, title, text, task, check, move } = scene;
  return html`
    <section class="story" aria-labelledby="story-title">
      <h2 class="headline" id="story-title">${t(title)}</h2>
      <p>${t(text)}</p>
      <p class="task"><strong>${t("lab.try")}</strong> ${sentences(t(task), check && traffic.kind === "hand" && t("lab.no-hurry"))}</p>
      ${move && html`<p class="task"><button type="button" id="move" onClick=${() => moveTo(moved ? "" : move.timezone)}>${moved ? t("lab.stay") : t(move.title)}</button></p>`}
      ${check && html`<${TaskState} key=${id} scene=${scene} isSolved=${isSolved} />`}
    </section>
  `;
}

// moveTo moves all lanes to a timezone from now on. An empty one undoes the move.
/** @param {string} timezone */
function moveTo(timezone) {
  change((l) => (l.move = timezone ? { at: clock.now(), timezone } : null));
  refresh();
}

/** @param {{scene: Scene, isSolved: boolean}} props */
function TaskState({ scene, isSolved }) {
  const [text, write] = useState("");
  useEffect(() => {
    const timer = setInterval(() => write(look(scene)), checkEvery);
    return () => clearInterval(timer);
  }, []);
  return html`<p class=${isSolved ? "task-state good" : "task-state muted"} id="task-state">${isSolved && html`<${Icon} name="check" />`}${sentences(isSolved && t("lab.done"), text)}</p>`;
}

// look counts how far the task is, and returns it in words.
/** @param {Scene} scene */
function look({ check }) {
  const now = timeNow();
  const lanes = lab.lanes.map(({ id }) => {
    const { entries } = played.tape.get(id) ?? emptyStrip;
    return entries.slice(0, lastBy(entries, now) + 1);
  });
  if (lanes.length === 0) return "";
  const { isDone, text } = check(lanes, lab);
  if (isDone && !lab.isSolved) {
    change((l) => (l.isSolved = true));
    say(sentences(t("lab.done"), text));
  }
  return text;
}
