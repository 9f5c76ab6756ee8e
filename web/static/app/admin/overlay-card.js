// @ts-check
// The card Overlay: makes a token, and builds the address for OBS.

import { t, table } from "../../text/text.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { print, usualLooks } from "../../overlay/looks.js";
import { OverlayPreview } from "./overlay-preview.js";
import { sent } from "./sent.js";
import { Copy } from "../widgets/copy.js";
import { LimitField, Tick } from "../widgets/field.js";
/** @import { Looks } from "../../overlay/looks.js" */
/** @import { State } from "../core/state.js" */

const rows = ["top", "middle", "bottom"], columns = ["left", "center", "right"];

const positionNames = table({
  "top-left": "admin.overlay-top-left", "top-center": "admin.overlay-top-center", "top-right": "admin.overlay-top-right",
  "middle-left": "admin.overlay-middle-left", "middle-center": "admin.overlay-middle-center", "middle-right": "admin.overlay-middle-right",
  "bottom-left": "admin.overlay-bottom-left", "bottom-center": "admin.overlay-bottom-center", "bottom-right": "admin.overlay-bottom-right",
});

const partNames = table({ count: "admin.overlay-count", names: "admin.overlay-names", raid: "admin.overlay-raid" });

const dark = "00000099"; // a box behind the text

/** @param {{state: State}} props */
export function OverlayCard({ state: { channel, channels } }) {
  const [looks, setLooks] = useState(usualLooks);
  const [texts, write] = useState({ size: String(looks.size), names: String(looks.names) }); // as typed
  const [made, setMade] = useState("");
  const login = channels.find(({ id }) => id === channel)?.login ?? channel;
  /** @param {Partial<Looks>} news */
  const change = (news) => setLooks({ ...looks, ...news });
  return html`
    <section class="card overlay-card" aria-labelledby="overlay-title">
      <h2 id="overlay-title" class="headline">${t("admin.overlay-title", { channel: login })}</h2>
      <p class="muted">${t("admin.overlay-about")}</p>
      <${OverlayPreview} looks=${looks} channel=${channel} />
      <${LooksForm} looks=${looks} change=${change} texts=${texts} write=${write} />
      ${made
        ? html`<${Address} address=${addressOf(looks, channel, made)} close=${() => setMade("")} />`
        : html`<${TokenForm} usual=${`overlay-${login}`} made=${setMade} />`}
    </section>
  `;
}

// Address shows the overlay's address, which contains the token. It follows the looks.
/** @param {{address: string, close: () => void}} props */
function Address({ address, close }) {
  const whole = useRef(null);
  useLayoutEffect(() => whole.current.focus(), []);
  return html`
    <div class="new-secret" role="group" tabindex="-1" ref=${whole} aria-labelledby="overlay-address-title">
      <h3 id="overlay-address-title">${t("admin.overlay-address")}</h3>
      <p>${t("admin.overlay-once")}</p>
      <div class="copyable"><code>${address}</code><${Copy} text=${address} label=${t("admin.overlay-copy")} /></div>
      <p><a id="overlay-open" href=${address} target="_blank" rel="noopener">${t("admin.overlay-open")}</a></p>
      <button type="button" onClick=${close}>${t("admin.done")}</button>
    </div>
  `;
}

// addressOf returns the overlay's address. The token is in the fragment, so that no server sees it.
/** @param {Looks} looks @param {string} channel @param {string} token */
function addressOf(looks, channel, token) {
  const address = new URL("overlay", document.baseURI);
  address.search = print(looks);
  address.hash = new URLSearchParams({ token, channel }).toString();
  return address.href;
}

// TokenForm makes a token that can only show the overlay.
/** @param {{usual: string, made: (token: string) => void}} props */
function TokenForm({ usual, made }) {
  const [typed, type] = useState(/** @type {string | null} */ (null));
  const [{ isBusy, problem }, setSending] = useState({ isBusy: false, problem: "" });
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    if ((typed ?? usual).trim() === "") return setSending({ isBusy: false, problem: t("admin.no-name") });
    setSending({ isBusy: true, problem: "" });
    const outcome = await sent("POST", "/tokens", { name: (typed ?? usual).trim(), role: "overlay" });
    setSending({ isBusy: false, problem: outcome.problem });
    if (outcome.body) made(outcome.body.token);
  };
  return html`
    <form class="together" novalidate onSubmit=${submit}>
      <label for="overlay-token">${t("admin.overlay-token")}</label>
      <input id="overlay-token" autocomplete="off" spellcheck="false" maxlength="200" value=${typed ?? usual} onInput=${(event) => type(event.target.value)} />
      <button type="submit" id="overlay-make" class="primary" aria-disabled=${isBusy ? "true" : "false"}>${t("admin.overlay-make")}</button>
    </form>
    <p class="error" role="alert">${problem}</p>
  `;
}

// LooksForm changes the looks that most people want to change. The others are in the documentation.
/**
 * @param {{looks: Looks, change: (news: Partial<Looks>) => void, texts: {size: string, names: string}, write: (texts: {size: string, names: string}) => void}} props
 */
function LooksForm({ looks, change, texts, write }) {
  /** @param {"size" | "names"} name @param {number} least @param {number} most */
  const number = (name, least, most) => {
    const isRight = (/** @type {string} */ text) => /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;
    return {
      id: `overlay-${name}`, value: texts[name], error: isRight(texts[name]) ? "" : t("admin.overlay-number", { least, most }),
      onInput: (/** @type {string} */ text) => {
        write({ ...texts, [name]: text });
        if (isRight(text)) change({ [name]: Number(text) });
      },
    };
  };
  const parts = Object.keys(partNames);
  /** @param {string} part @param {boolean} is */
  const show = (part, is) => change({ show: parts.filter((one) => (one === part ? is : looks.show.includes(one))) });
  return html`
    <div class="overlay-looks">
      <${LimitField} label=${t("admin.overlay-size")} unit="px" ...${number("size", 16, 120)} />
      <${LimitField} label=${t("admin.overlay-number-of-names")} unit="" ...${number("names", 0, 10)} />
      <div class="field">
        <label for="overlay-position">${t("admin.overlay-position")}</label>
        <select id="overlay-position" value=${looks.position} onChange=${(event) => change({ position: event.target.value })}>
          ${rows.flatMap((y) => columns.map((x) => html`<option value=${`${y}-${x}`} selected=${looks.position === `${y}-${x}`}>${/** @type {any} */ (positionNames)[`${y}-${x}`]}</option>`))}
        </select>
      </div>
      <div class="field">
        <label for="overlay-color">${t("admin.overlay-color")}</label>
        <input id="overlay-color" type="color" value=${`#${looks.color}`} onInput=${(event) => change({ color: event.target.value.slice(1) })} />
      </div>
    </div>
    <div class="overlay-ticks">
      ${parts.map((part) => html`<${Tick} id=${`overlay-show-${part}`} checked=${looks.show.includes(part)} fixed=${looks.show.join() === part} onChange=${(/** @type {boolean} */ is) => show(part, is)}>${/** @type {any} */ (partNames)[part]}<//>`)}
      <${Tick} id="overlay-timeouts" checked=${looks.timeouts === "hide"} onChange=${(/** @type {boolean} */ is) => change({ timeouts: is ? "hide" : "show" })}>${t("admin.overlay-hide-timeouts")}<//>
      <${Tick} id="overlay-background" checked=${looks.background !== "none"} onChange=${(/** @type {boolean} */ is) => change({ background: is ? dark : "none" })}>${t("admin.overlay-background")}<//>
    </div>
  `;
}
