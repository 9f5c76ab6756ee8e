// @ts-check
// The overlay's page: reads the address, asks chatguard, and draws. The token is in the fragment,
// so that no server and no log sees it.

import { loadTexts } from "../text/text.js";
import { html, render } from "../vendor/htm-preact.js";
import { ask, isAway, newState, next } from "./follow.js";
import { parse } from "./looks.js";
import { OverlayPage } from "./view.js";

const secrets = new URLSearchParams(location.hash.slice(1));
const token = secrets.get("token") ?? "", channel = secrets.get("channel") ?? "";
let state = newState();
/** @type {ReturnType<typeof parse>} */
let address;

function draw() {
  const { shown, refusal, ahead } = state;
  render(html`<${OverlayPage} shown=${shown} refusal=${refusal} isAway=${isAway(state)} address=${address} now=${Date.now() + ahead} />`, document.getElementById("overlay"));
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
