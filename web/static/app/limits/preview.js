// @ts-check
// The preview: what the limits in force would have done with the recorded messages, and beside it
// what the limits being edited would have done.

import { sentences, t } from "../../text/text.js";
import { html, useEffect, useState } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { state, update } from "../core/state.js";
import { isDirty, policyOf } from "./draft.js";
import { Changed, Figures, Outcomes } from "./preview-tables.js";
import { Icon } from "../widgets/icon.js";
import { clock, wait } from "../words/time.js";
/** @import { State } from "../core/state.js" */

/** @typedef {Api.postChannelsPreview} PreviewResult */

/**
 * @typedef {object} Preview
 * @property {boolean} busy a request is pending
 * @property {PreviewResult} [result] the last answer
 * @property {boolean} [isChange] the result covers a change, not only the limits in force
 * @property {string} problem
 */

const pause = 300; // from the last key to the request, ms

// ask requests the preview of a policy, and returns a function that cancels the request.
/** @param {Api.Policy} policy @param {boolean} isChange */
export function ask(policy, isChange) {
  const given = new AbortController();
  const timer = setTimeout(() => count(policy, isChange, given.signal), isChange ? pause : 0);
  update((s) => (s.preview = { ...s.preview, busy: true, problem: "" }));
  return () => {
    clearTimeout(timer);
    given.abort();
  };
}

/** @param {Api.Policy} policy @param {boolean} isChange @param {AbortSignal} signal */
async function count(policy, isChange, signal) {
  const address = `/channels/${encodeURIComponent(state.channel)}/preview`;
  try {
    const { body: result } = await request("POST", address, { body: { policy }, signal });
    if (!signal.aborted) update((s) => (s.preview = { busy: false, result, isChange, problem: "" }));
  } catch (problem) {
    if (!signal.aborted && !ifSignedOut(problem)) update((s) => (s.preview = { ...s.preview, busy: false, problem: problem.message }));
  }
}

/** @param {{state: State}} props */
export function PreviewPane({ state }) {
  const { form, preview, channel, feed } = state;
  const isCutOff = feed.state === "lost";
  const isWrong = Object.keys(form.errors).length > 0;
  const limits = { ...form, draft: { ...form.draft, mode: form.policy.mode } }; // the preview assumes that both sides are enforced
  const wanted = isWrong ? "" : JSON.stringify(policyOf(limits));
  useEffect(() => (wanted && !isCutOff ? ask(JSON.parse(wanted), isDirty(limits)) : undefined), [channel, form.etag, wanted, isCutOff]);
  const { result, isChange, problem, busy } = preview ?? {};
  const isWaiting = isWrong || isCutOff;
  const without = Math.max(result?.in_force.without_text ?? 0, result?.candidate.without_text ?? 0);
  const [isOpen, setOpen] = useState(false); // on narrow screens, where only the headline is shown at first
  return html`
    <section class="preview card ${isOpen ? "open" : ""}" aria-labelledby="preview-title" aria-busy=${busy ? "true" : "false"}>
      <h2 class="headline" id="preview-title">${t("limits.preview")}</h2>
      <p class="verdict" role="status">${isWaiting ? waitingFor(isWrong) : busy ? t("limits.counting") : headline(result, isChange)}</p>
      ${without > 0 && !isWaiting && html`<p class="muted" id="without-text">${t("rules.without-text", { n: without })}</p>`}
      ${problem && !isWaiting && html`<p class="error" role="alert">${problem}</p>`}
      ${result?.messages > 0 && html`
        <button type="button" class="quiet unfold" aria-expanded=${isOpen ? "true" : "false"} onClick=${() => setOpen(!isOpen)}>
          ${isOpen ? t("limits.hide-details") : t("limits.show-details")}<${Icon} name="chevron-down" />
        </button>
        <div class="details ${isWaiting || busy || problem ? "stale" : ""}">
          <${Figures} result=${result} isChange=${isChange} />
          <${Outcomes} result=${result} isChange=${isChange} names=${form.draft.limits.map(({ name }) => name)} />
          ${isChange && html`<${Changed} users=${result.changed ?? []} state=${state} />`}
          <p class="basis muted">${basis(result)}</p>
        </div>`}
    </section>
  `;
}

/** @param {boolean} isWrong */
const waitingFor = (isWrong) => t(isWrong ? "limits.preview-wrong" : "limits.preview-cut-off");

/** @param {PreviewResult | null | undefined} result @param {boolean} isChange */
function headline(result, isChange) {
  if (!result) return "";
  if (result.messages === 0) return t("limits.no-messages");
  const { in_force: present, candidate } = result;
  if (!isChange && present.throttled_messages === 0) return t("limits.would-throttle-nobody");
  if (!isChange) return t("limits.would-throttle", { messages: messages(present.throttled_messages), users: users(present.throttled_users) });
  const by = candidate.throttled_messages - present.throttled_messages;
  if (by === 0 && result.changed?.length > 0) return t("limits.others-throttled");
  if (by === 0) return t("limits.would-change-nothing");
  return by > 0 ? t("limits.would-throttle-more", { n: by }) : t("limits.would-throttle-fewer", { n: -by });
}

/** @param {number} n */
const messages = (n) => t("limits.messages", { n });
/** @param {number} n */
const users = (n) => t("limits.from-users", { n });

/** @param {PreviewResult} of */
function basis({ from, until, messages: all, users: who, exempt_messages: exempt, truncated }) {
  const values = { messages: messages(all), users: users(who), time: wait(Date.parse(until) - Date.parse(from)), until: clock(Date.parse(until)) };
  const counted = exempt > 0 ? t("limits.basis-exempt", { ...values, n: exempt }) : t("limits.basis", values);
  return sentences(counted, truncated && t("limits.truncated"), t("limits.assumptions"));
}
