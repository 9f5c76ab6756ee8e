// @ts-check
// The card that says what a channel's moderators may do if they sign in with Twitch.

import { t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { roleMeanings } from "./access.js";
import { sent } from "./sent.js";
import { accessName } from "../words/access.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { State } from "../core/state.js" */

const roles = ["view", "help", "moderate"];

/** @typedef {{settings: Api.Settings | null, etag: string, problem: string, done: "" | "saved" | "unsaved"}} Known */

/** @type {Known} */
const unknown = { settings: null, etag: "", problem: "", done: "" };

/** @param {{state: State}} props */
export function ModeratorsCard({ state: { channel, status } }) {
  const [known, setKnown] = useState(unknown);
  const [isBusy, setBusy] = useState(false);
  const address = `/channels/${encodeURIComponent(channel)}/settings`;
  const load = async (/** @type {Partial<Known>} */ with_ = {}) => {
    try {
      const { body, etag } = await request("GET", address);
      setKnown({ ...unknown, settings: body.settings, etag, ...with_ });
    } catch (problem) {
      if (!ifSignedOut(problem)) setKnown({ ...unknown, problem: problem.message });
    }
  };
  useEffect(() => {
    load();
  }, [channel]);
  const { settings, etag, problem, done } = known;
  /** @param {string} role */
  const choose = async (role) => {
    if (isBusy || role === settings.moderators) return;
    setBusy(true);
    const outcome = await sent("PUT", address, { ...settings, moderators: role }, etag);
    await load({ problem: outcome.problem, done: !outcome.body ? "" : outcome.body.saved ? "saved" : "unsaved" });
    setBusy(false);
  };
  return html`
    <section class="card" aria-labelledby="moderators-title">
      <h2 id="moderators-title" class="headline">${t("admin.moderators")}</h2>
      <p class="muted">${t("admin.moderators-about")}</p>
      ${settings && html`
        <fieldset class="moderator-roles">
          <legend class="unseen">${t("admin.moderators")}</legend>
          ${roles.map((role) => html`
            <label class="choice">
              <input type="radio" name="moderators" id=${`moderators-${role}`} value=${role} checked=${settings.moderators === role} onChange=${() => choose(role)} />
              <span>${accessName(role)}<span class="muted"> · ${roleMeanings[role]}</span></span>
            </label>`)}
        </fieldset>`}
      <div role="status">
        ${problem && html`<p class="error">${problem}</p>`}
        ${done === "saved" && html`<p class="note">${t("admin.moderators-saved")}</p>`}
        ${done === "unsaved" && html`<p class="note warn">${unsavedChange(status?.database)}</p>`}
      </div>
    </section>
  `;
}
