// @ts-check
// A small preview of the overlay on a striped background: what it shows now, or an example.

import { t } from "../../text/text.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { Overlay } from "../../overlay/view.js";
import { follow } from "../core/follow.js";
import { now } from "../core/state.js";
/** @import { Looks } from "../../overlay/looks.js" */

const every = 5000; // between two requests, ms
const width = 1920; // of a stream, px

const names = ["Anna", "Berta", "Carlos", "Daiki", "Élodie", "Fatma", "Goran", "Hana", "Ivan", "Jack"]; // invented

/** @param {{looks: Looks, channel: string}} props */
export function OverlayPreview({ looks, channel }) {
  const [shown, show] = useState(/** @type {Api.getOverlay | null} */ (null));
  const frame = useRef(null);
  const [scale, setScale] = useState(0.25);
  useEffect(() => follow(`/overlay?channel=${encodeURIComponent(channel)}`, every, ({ body }) => show(body ?? null)), [channel]);
  useLayoutEffect(() => {
    const measure = () => setScale(frame.current.clientWidth / width);
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, []);
  const isExample = !shown?.users.length;
  return html`
    <link rel="stylesheet" href="style/overlay.css" />
    <figure class="overlay-preview">
      <div class="overlay-frame" ref=${frame} role="img" aria-label=${t("admin.overlay-preview")}>
        <div class="overlay-scaled" style=${{ transform: `scale(${scale})` }}><${Overlay} shown=${isExample ? example() : shown} looks=${looks} now=${now()} /></div>
      </div>
      <figcaption class="muted">${isExample ? t("admin.overlay-example") : t("admin.overlay-live")}</figcaption>
    </figure>
  `;
}

/** @returns {Api.getOverlay} */
const example = () => ({
  channel: "", login: "", throttled_users: 12, paused: false, observing: false, raid_until: new Date(now() + 272_000).toISOString(),
  users: names.map((name, i) => ({ user_id: String(i), name, at: new Date(now()).toISOString(), held: true, timed_out: false })),
});
