// @ts-check
// The step from the setup page to the dashboard, without another sign-in.

import { loadTexts, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { lazily, NotLoaded } from "./lazy.js";
import { Masthead } from "../widgets/masthead.js";

const Unloaded = () => html`<main class="setup-page"><${Masthead} title=${t("shell.set-up")} /><${NotLoaded} title=${t("shell.page-not-loaded")} /></main>`;

const load = () => Promise.all([import("../start/first-run.js"), loadTexts("start")]).then(([module]) => module.FirstRunPage);

const page = lazily(load, Unloaded, () => true);

const tries = 20;
const pause = 250; // between two tries, ms

// signedIn signs in to the dashboard. It returns false while the dashboard is starting.
/** @param {string} code */
async function signedIn(code) {
  try {
    await request("POST", "/session", { body: { code } });
    return true;
  } catch {
    return false;
  }
}

/** @param {{console: string, onEntered: () => Promise<void>}} props */
export function FirstRun({ console, onEntered }) {
  /** @param {string} code */
  const enter = async (code) => {
    for (let i = 0; i < tries && !(await signedIn(code)); i++) await new Promise((done) => setTimeout(done, pause));
    await onEntered();
  };
  return html`<${page()} console=${console} onCreated=${enter} />`;
}
