// @ts-check
// The overlay's page: reads the address, asks chatguard, and draws. The token is in the fragment,
// so that no server and no log sees it.

import { loadTexts, t } from "../text/text.js";
import { html, render } from "../vendor/htm-preact.js";
import { ask, isAway, newState, next } from "./follow.js";
import { parse } from "./looks.js";
import { Overlay } from "./view.js";

const secrets = new URLSearchParams(location.hash.slice(1));
const token = secrets.get("token") ?? "", channel = secrets.get("channel") ?? "";
let state = newState();
/** @type {ReturnType<typeof parse>} */
let address;

/** @param {{lines: string[]}} props */
const Notes = ({ lines }) => lines.length > 0 && html`<div class="overlay-notes" role="status">${lines.map((line) => html`<p dir="auto">${line}</p>`)}</div>`;

const refusalText = () => {
  switch (state.refusal) {
    case "no-token": return t("overlay.no-token");
    case "revoked": return t("overlay.revoked");
    case "forbidden": return t("overlay.forbidden");
    case "no-channel": return t("overlay.no-channel");
  }
};

function draw() {
  const { looks, problems } = address, refusal = refusalText();
  render(html`
    ${state.shown && html`<${Overlay} shown=${state.shown} looks=${looks} now=${Date.now() + state.ahead} />`}
    <${Notes} lines=${refusal ? [...problems, refusal] : problems} />
    ${isAway(state) && html`<div class="overlay-dot"></div>`}
  `, document.getElementById("overlay"));
}

async function follow() {
  const { state: after, pause } = next(state, await ask(channel, token, state.etag), token !== "");
  state = after;
  draw();
  setTimeout(follow, pause);
}

await loadTexts("overlay");
address = parse(location.search);
addEventListener("hashchange", () => location.reload());
draw();
follow();
