// @ts-check
// The tables of a preview: the effect of the limits in force beside the effect of the change.

import { t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { nameOf } from "../core/state.js";
import { amount } from "../words/algorithms.js";
import { past, severities } from "../words/penalties.js";
/** @import { Value } from "../../vendor/htm-preact.js" */
/** @import { State } from "../core/state.js" */
/** @import { PreviewResult } from "./preview.js" */

/** @typedef {[name: string, before: number, after: number]} Pair */

// Figures shows how many messages and users would have been throttled.
/** @param {{result: PreviewResult, isChange: boolean}} props */
export function Figures({ result: { in_force: present, candidate }, isChange }) {
  /** @type {Pair[]} */
  const figures = [
    [t("limits.throttled-messages"), present.throttled_messages, candidate.throttled_messages],
    [t("limits.throttled-users"), present.throttled_users, candidate.throttled_users],
  ];
  return html`
    <dl class="tally">
      ${figures.map(([name, before, after]) => html`
        <div>
          <dt>${name}</dt>
          <dd>
            <span class="figure">${amount(isChange ? after : before)}</span>
            ${isChange && html` <${Difference} by=${after - before} /> <span class="muted">${t("limits.before", { count: before })}</span>`}
          </dd>
        </div>`)}
    </dl>
  `;
}

/** @param {{result: PreviewResult, isChange: boolean, names: string[]}} props */
export function Outcomes({ result: { in_force: present, candidate }, isChange, names }) {
  const limits = pairs(present.by_limit, candidate.by_limit, names);
  const observed = pairs(present.observed_by_limit, candidate.observed_by_limit, names);
  const penalties = pairs(present.penalties, candidate.penalties, Object.keys(past));
  if (limits.length + observed.length + penalties.length === 0) return null;
  return html`
    <table>
      <thead>
        <tr>
          <th scope="col"><span class="unseen">${t("limits.what")}</span></th><th scope="col">${t("limits.current")}</th>
          ${isChange && html`<th scope="col">${t("limits.new")}</th><th scope="col">${t("limits.difference")}</th>`}
        </tr>
      </thead>
      <${Group} name=${t("limits.throttled-by-limit")} rows=${limits} isChange=${isChange} />
      <${Group} name=${t("limits.observed-by-limit")} rows=${observed} isChange=${isChange} />
      <${Group} name=${t("limits.penalties-by-kind")} rows=${penalties} isChange=${isChange} write=${penaltyChip} />
    </table>
  `;
}

/** @param {string} action */
const penaltyChip = (action) => html`<span class="chip ${severities[action] ?? ""}">${past[action] ?? action}</span>`;

// pairs joins the numbers of both sides by name, in the order of the names.
/**
 * @param {Record<string, number> | undefined} present
 * @param {Record<string, number> | undefined} candidate
 * @param {string[]} names
 * @returns {Pair[]}
 */
function pairs(present, candidate, names) {
  const all = new Set([...names, ...Object.keys(present ?? {}), ...Object.keys(candidate ?? {})]);
  return [...all].map((name) => /** @type {Pair} */ ([name, present?.[name] ?? 0, candidate?.[name] ?? 0])).filter(([, before, after]) => before > 0 || after > 0);
}

/**
 * @param {{name: string, rows: Pair[], isChange: boolean, write?: (what: string) => Value}} props write
 *   shows the name of a row
 */
function Group({ name, rows, isChange, write = (what) => html`<bdi>${what}</bdi>` }) {
  if (rows.length === 0) return null;
  return html`
    <tbody>
      <tr class="group"><th scope="rowgroup" colspan=${isChange ? 4 : 2}>${name}</th></tr>
      ${rows.map(([what, before, after]) => html`
        <tr>
          <th scope="row">${write(what)}</th><td>${amount(before)}</td>
          ${isChange && html`<td>${amount(after)}</td><td><${Difference} by=${after - before} /></td>`}
        </tr>
      `)}
    </tbody>
  `;
}

/** @param {{by: number}} props */
function Difference({ by }) {
  if (by === 0) return html`<span class="muted">${t("limits.same")}</span>`;
  return html`<span class="by">${by > 0 ? `+${amount(by)}` : `−${amount(-by)}`}</span>`;
}

const mostUsers = 100; // that chatguard lists

/** @param {{users: PreviewResult["changed"], state: State}} props */
export function Changed({ users, state }) {
  if (users.length === 0) return null;
  return html`
    <table class="changed">
      <caption>${users.length === mostUsers ? t("limits.affected-top", { count: mostUsers }) : t("limits.affected")}</caption>
      <thead><tr>${[t("limits.user"), t("limits.current"), t("limits.new"), t("limits.difference")].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${users.map((user) => html`
          <tr key=${user.user_id}>
            <th scope="row"><a href=${linkTo(state, "people", { user: user.user_id })}><bdi>${nameOf(user)}</bdi></a></th>
            <td>${amount(user.in_force)}</td><td>${amount(user.candidate)}</td><td><${Difference} by=${user.candidate - user.in_force} /></td>
          </tr>`)}
      </tbody>
    </table>
  `;
}
