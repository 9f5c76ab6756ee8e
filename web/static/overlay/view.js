// @ts-check
// What the overlay shows of a channel.

import { t } from "../text/text.js";
import { html } from "../vendor/htm-preact.js";
import { styleOf } from "./looks.js";
/** @import { Refusal } from "./follow.js" */
/** @import { Looks, parse } from "./looks.js" */

// OverlayPage shows a channel, what is wrong with the page's address, and whether chatguard is away.
/**
 * @param {{shown: Api.getOverlay | null, refusal: Refusal | null, isAway: boolean, address: ReturnType<typeof parse>, now: number}} props
 */
export function OverlayPage({ shown, refusal, isAway, address: { looks, problems }, now }) {
  const notes = refusal ? [...problems, refusalText(refusal)] : problems;
  return html`
    ${shown && html`<${Overlay} shown=${shown} looks=${looks} now=${now} />`}
    ${notes.length > 0 && html`<div class="overlay-notes" role="status">${notes.map((note) => html`<p dir="auto">${note}</p>`)}</div>`}
    ${isAway && html`<div class="overlay-dot"></div>`}
  `;
}

/** @param {Refusal} refusal */
function refusalText(refusal) {
  switch (refusal) {
    case "no-token": return t("overlay.no-token");
    case "revoked": return t("overlay.revoked");
    case "forbidden": return t("overlay.forbidden");
    case "no-channel": return t("overlay.no-channel");
  }
}

// Overlay shows a channel in a box that fills its parent. now is chatguard's time, in ms.
/** @param {{shown: Api.getOverlay, looks: Looks, now: number}} props */
export function Overlay({ shown, looks, now }) {
  const [y, x] = looks.position.split("-");
  const isShown = (/** @type {string} */ part) => looks.show.includes(part);
  const names = isShown("names") ? namesOf(shown, looks, now) : [];
  const left = isShown("raid") && shown.raid_until ? Date.parse(shown.raid_until) - now : 0;
  return html`
    <div class="overlay is-${y} is-${x}" style=${styleOf(looks)}>
      ${(left > 0 || names.length > 0 || isShown("count")) && html`
        <div class="overlay-box">
          ${left > 0 && html`<p class="overlay-line overlay-raid">${raidText(left)}</p>`}
          ${isShown("count") && html`<p class="overlay-line overlay-count">${countText(shown, names.filter(({ held }) => !held).length)}</p>`}
          ${names.length > 0 && html`<ul class="overlay-names">${names.map(({ user_id, name }) => html`<li class="overlay-line" key=${user_id}><bdi>${name}</bdi></li>`)}</ul>`}
        </div>`}
    </div>
  `;
}

// countText says how many users are throttled. While the channel observes, nobody is. Users whose
// names are still shown, although they may write again, count as well.
/** @param {Api.getOverlay} shown @param {number} lingering */
function countText({ throttled_users: users, paused, observing }, lingering) {
  if (paused) return t("overlay.paused");
  const n = users + lingering;
  return observing ? t("overlay.would-be", { n }) : t("overlay.throttled", { n });
}

// namesOf returns the users whose names are shown: who is throttled, and who was a moment ago.
/** @param {Api.getOverlay} shown @param {Looks} looks @param {number} now */
export function namesOf({ users, paused }, { names, linger, timeouts, hide }, now) {
  if (paused) return [];
  const isNamed = (/** @type {Api.getOverlay["users"][number]} */ { user_id, held, at, timed_out }) =>
    (held || Date.parse(at) + 1000 * linger > now) && !(timed_out && timeouts === "hide") && !hide.includes(user_id);
  return users.filter(isNamed).slice(0, names);
}

// raidText names raid mode and what is left of it. Near its end, the time is only approximate.
/** @param {number} left ms */
function raidText(left) {
  const seconds = Math.ceil(left / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return t("overlay.raid-left", { left: h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}` });
}
