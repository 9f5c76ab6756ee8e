// @ts-check
// Two chats side by side: the same people write the same messages, and only one chat has the limits
// of the first lane. It is shown in place of the lanes while the traffic is a chat.

import { sentences, t } from "../../text/text.js";
import { html, useEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { ruleOf } from "../../app/words/rules.js";
import { isText } from "../../app/words/scopes.js";
import { Icon } from "../../app/widgets/icon.js";
import { EditLane } from "../edit.js";
import { mostCopied } from "../figures.js";
import { played, setTraffic } from "../player.js";
import { timeNow } from "../stage.js";
import { change } from "../state.js";
import { emptyStrip, lastBy } from "../tape.js";
import { figuresOf } from "../texts.js";
import { linesOf, sharesOf } from "./lines.js";
import { ChatWindow } from "./window.js";
/** @import { Copies } from "../figures.js" */
/** @import { Lane, More, Setup } from "../state.js" */
/** @import { Entry } from "../tape.js" */
/** @import { Line, Share } from "./lines.js" */
/** @import { Writer } from "./window.js" */

const linesEvery = 100, sharesEvery = 1000; // ms between two updates of what is shown
const minute = 60_000; // ms
const usualSpam = "500ms";

/** @type {WeakMap<Entry[], {free: Line[], limited: Line[]}>} */
const found = new WeakMap();

/** @param {Entry[]} entries */
function chatsOf(entries) {
  if (!found.has(entries)) found.set(entries, linesOf(entries));
  return found.get(entries);
}

/** @typedef {{free: Share[], limited: Share[], throttled: number, copies: Copies[]}} Standing what happened in the last minute, and to copies since the start */

const mostTexts = 3; // in the table of copies

/** @param {Entry[]} entries @param {Lane | undefined} lane @param {number} now @returns {Standing} */
function standingOf(entries, lane, now) {
  const { free, limited } = chatsOf(entries);
  const recent = entries.slice(lastBy(entries, now - minute) + 1, lastBy(entries, now) + 1);
  return { free: sharesOf(free, now), limited: sharesOf(limited, now), throttled: recent.filter(({ mark }) => mark === "throttled").length, copies: lane ? mostCopied(figuresOf(lane, now).figures, lane.limits.findIndex(isText), mostTexts) : [] };
}

/** @param {{lab: Setup & More}} props */
export function Chat({ lab }) {
  const [lane] = lab.lanes, id = lane?.id ?? 0;
  const writers = useRef({ free: newWriter(), limited: newWriter() });
  const [standing, stand] = useState(/** @type {Standing} */ ({ free: [], limited: [], throttled: 0, copies: [] }));
  useEffect(() => {
    let stoodAt = -Infinity;
    const show = () => {
      const { entries } = played.tape.get(id) ?? emptyStrip, now = timeNow(), { free, limited } = chatsOf(entries);
      writers.current.free.write(free, now);
      writers.current.limited.write(limited, now);
      if (performance.now() - stoodAt < sharesEvery) return;
      stoodAt = performance.now();
      stand(standingOf(entries, lane, now));
    };
    const timer = setInterval(show, linesEvery);
    return () => clearInterval(timer);
  }, [id]);
  return html`
    <${Switch} lab=${lab} />
    <div class="chats">
      <${ChatWindow} id="chat-free" title=${t("lab.chat-free")} spoken=${t("lab.chat-free-messages")} about=${t("lab.chat-free-about")} shares=${standing.free} throttled=${0} copies=${[]} writer=${writers.current.free} />
      <${ChatWindow} id="chat-limited" title=${t("lab.chat-limited")} spoken=${t("lab.chat-limited-messages")} about=${lane ? sentences(...lane.limits.map((limit) => t("lab.rule", { rule: ruleOf(limit, lab.timezone) }))) : t("lab.chat-no-limits")} shares=${standing.limited} throttled=${standing.throttled} copies=${standing.copies} writer=${writers.current.limited} />
    </div>
    ${lane && lab.edited === lane.id && html`<${EditLane} lane=${lane} number=${1} />`}
  `;
}

/** @returns {Writer} */
const newWriter = () => ({ write: () => {} });

/** @param {{lab: Setup & More}} props */
function Switch({ lab: { traffic, lanes: [lane], edited } }) {
  const hasSpam = Boolean(traffic.spam_every);
  const isEdited = lane && edited === lane.id;
  return html`
    <div class="together chat-switches">
      <label class="together"><input type="checkbox" role="switch" id="spammer" checked=${hasSpam} onChange=${() => setTraffic({ ...traffic, spam_every: hasSpam ? "" : usualSpam })} />${t("lab.with-spammer")}</label>
      ${lane && html`<button type="button" id="chat-limits" aria-expanded=${isEdited ? "true" : "false"} onClick=${() => change((l) => (l.edited = isEdited ? 0 : lane.id))}><${Icon} name="sliders" />${t("lab.chat-limits")}</button>`}
    </div>
  `;
}
