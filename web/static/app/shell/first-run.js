// @ts-check
// The way from the setup page to the dashboard, without another sign-in.

import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { update } from "../core/state.js";
/** @import { View } from "../../vendor/htm-preact.js" */

/** @typedef {(props: {console: string, onCreated: (code: string) => Promise<void>}) => View} Component */

/** @type {Component | null} */
let Page = null;
let loading = false;

async function load() {
  loading = true;
  const module = await import("../start/first-run.js");
  update(() => (Page = module.FirstRunPage));
}

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
  if (!loading) load();
  /** @param {string} code */
  const enter = async (code) => {
    for (let i = 0; i < tries && !(await signedIn(code)); i++) await new Promise((done) => setTimeout(done, pause));
    await onEntered();
  };
  return Page && html`<${Page} console=${console} onCreated=${enter} />`;
}
