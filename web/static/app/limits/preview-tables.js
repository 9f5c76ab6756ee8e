// @ts-check
// The tables of a preview: the effect of the limits in force beside the effect of the change.

import { html } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { shownID } from "../core/state.js";
import { amount } from "../words/algorithms.js";
import { past } from "../words/penalties.js";
/** @import { State } from "../core/state.js" */
/** @import { PreviewResult } from "./preview.js" */

/** @typedef {[name: string, before: number, after: number]} Pair */

/** @param {{result: PreviewResult, isChange: boolean, names: string[]}} props */
export function Outcomes({ result: { in_force: present, candidate }, isChange, names }) {
  /** @type {Pair[]} */
  const all = [
    ["Messages throttled", present.throttled_messages, candidate.throttled_messages],
    ["Users throttled", present.throttled_users, candidate.throttled_users],
  ];
  /** @type {Pair[]} */
  const drawn = pairs(present.penalties, candidate.penalties, Object.keys(past)).map(([name, ...numbers]) => [past[name] ?? name, ...numbers]);
  return html`
    <table>
      <thead>
        <tr>
          <th scope="col"><span class="unseen">What</span></th><th scope="col">Current</th>
          ${isChange && html`<th scope="col">New</th><th scope="col">Difference</th>`}
        </tr>
      </thead>
      <${Group} rows=${all} isChange=${isChange} />
      <${Group} name="Messages by limit" rows=${pairs(present.by_limit, candidate.by_limit, names)} isChange=${isChange} />
      <${Group} name="Observed only" rows=${pairs(present.observed_by_limit, candidate.observed_by_limit, names)} isChange=${isChange} />
      <${Group} name="Penalties" rows=${drawn} isChange=${isChange} />
    </table>
  `;
}

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

/** @param {{name?: string, rows: Pair[], isChange: boolean}} props */
function Group({ name, rows, isChange }) {
  if (rows.length === 0) return null;
  return html`
    <tbody>
      ${name && html`<tr class="group"><th scope="rowgroup" colspan=${isChange ? 4 : 2}>${name}</th></tr>`}
      ${rows.map(([what, before, after]) => html`
        <tr>
          <th scope="row"><bdi>${what}</bdi></th><td>${amount(before)}</td>
          ${isChange && html`<td>${amount(after)}</td><td><${Difference} by=${after - before} /></td>`}
        </tr>
      `)}
    </tbody>
  `;
}

/** @param {{by: number}} props */
function Difference({ by }) {
  if (by === 0) return html`<span class="muted">same</span>`;
  return by > 0 ? `+${amount(by)}` : `−${amount(-by)}`;
}

/** @param {{users: PreviewResult["changed"], state: State}} props */
export function Changed({ users, state }) {
  if (users.length === 0) return null;
  return html`
    <table class="changed">
      <caption>Users with a different result${users.length === 100 ? " (top 100)" : ""}</caption>
      <thead><tr>${["User", "Current", "New", "Difference"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${users.map(({ user_id: id, login, in_force: before, candidate: after }) => html`
          <tr key=${id}>
            <th scope="row"><a href=${linkTo(state, "people", { user: id })}><bdi>${login || shownID(id)}</bdi></a></th>
            <td>${amount(before)}</td><td>${amount(after)}</td><td><${Difference} by=${after - before} /></td>
          </tr>`)}
      </tbody>
    </table>
  `;
}
