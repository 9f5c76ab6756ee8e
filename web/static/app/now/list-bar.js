// @ts-check
// The bar above the list: tabs, order and filter.

import { number, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { observes, standing } from "../core/state.js";
import { addressOf, filters, go, limitsOf, orders, tabs } from "./view.js";
/** @import { State, User } from "../core/state.js" */
/** @import { View } from "./view.js" */

// ListBar shows the bar; users are those of each tab. All choices are always there, and have the
// same width whatever limits they list, so that nothing moves. The first tab has room for both its
// names.
/** @param {{state: State, view: View, users: Record<View["tab"], User[]>}} props */
export function ListBar({ state, view, users }) {
  const limits = limitsOf(users[view.tab]);
  if (view.limit && !limits.includes(view.limit)) limits.push(view.limit);
  const names = [tabs.held, t("now.tab-observed")];
  if (observes() || standing().would > 0) names.reverse();
  return html`
    <div class="list-bar">
      <div class="tabs" role="group" aria-label=${t("now.period")}>
        ${Object.entries(tabs).map(([tab, name]) => html`
          <a href=${addressOf(state, view, { tab: /** @type {View["tab"]} */ (tab) })} aria-current=${tab === view.tab ? "true" : null}>
            ${tab === "held" ? html`<span class="label" data-other=${names[1]}>${names[0]}</span>` : name} <span class="tab-count">${number.format(users[/** @type {View["tab"]} */ (tab)].length)}</span></a>
        `)}
      </div>
      <div class="choices">
        <${Choice} label=${t("now.show")} chosen=${view.show} options=${Object.entries(filters)} onChoose=${(/** @type {any} */ show) => go({ show })} />
        <${Choice} label=${t("now.limit")} chosen=${view.limit} options=${[["", t("now.every-limit")], ...limits.map((limit) => [limit, limit])]}
          onChoose=${(/** @type {string} */ limit) => go({ limit })} />
        <${Choice} label=${t("now.order")} chosen=${view.sort} options=${Object.entries(orders)} onChoose=${(/** @type {any} */ sort) => go({ sort })} />
      </div>
    </div>
  `;
}

// Choice is a menu without a visible label; its options say what it is about.
/** @param {{label: string, chosen: string, options: string[][], onChoose: (value: string) => void}} props */
function Choice({ label, chosen, options, onChoose }) {
  /** @param {{target: HTMLSelectElement}} event */
  const choose = (event) => onChoose(event.target.value);
  return html`
    <select aria-label=${label} value=${chosen} onChange=${choose}>
      ${options.map(([value, name]) => html`<option key=${value} value=${value} selected=${value === chosen}>${name}</option>`)}
    </select>
  `;
}
