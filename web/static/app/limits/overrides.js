// @ts-check
// Users with custom numbers in a limit.

import { comma, commas, rich, t } from "../../text/text.js";
import { html } from "../../vendor/htm-preact.js";
import { request } from "../core/api.js";
import { inOrder } from "../core/in-order.js";
import { linkTo } from "../core/route.js";
import { ifSignedOut } from "../core/session.js";
import { nameOf, state, update } from "../core/state.js";
import { amount } from "../words/algorithms.js";
import { length, seconds } from "../words/time.js";
/** @import { State } from "../core/state.js" */
/** @import { Fields } from "../words/algorithms.js" */

/** @typedef {Api.getChannelsOverrides["users"][number]} Overridden */

/** @typedef {Pick<Api.getChannelsOverrides, "users" | "by_limit"> & {problem: string}} Overrides */

const shown = 20; // users listed per limit; the page People has the others

const asked = inOrder(); // to ignore outdated answers

// loadOverrides fetches the users with custom limits in the channel shown.
export async function loadOverrides() {
  const { channel } = state;
  const isNews = asked();
  /** @param {State["overrides"]} overrides */
  const keep = (overrides) => isNews() && channel === state.channel && update((s) => (s.overrides = overrides));
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(channel)}/overrides?n=500`);
    keep({ ...body, problem: "" });
  } catch (problem) {
    if (!ifSignedOut(problem)) keep({ users: [], by_limit: {}, problem: problem.message });
  }
}

/** @param {{name: string, fields: Fields, overrides: State["overrides"]}} props */
export function LimitOverrides({ name, fields, overrides }) {
  const users = (overrides?.users ?? []).filter(({ override }) => override.limits?.[name]);
  if (users.length === 0) return null;
  const named = users.slice(0, shown).map((user, i) => html`${i > 0 && comma}<${User} user=${user} own=${user.override.limits[name]} fields=${fields} />`);
  const more = overrides.by_limit[name] - named.length;
  return html`
    <p class="overrides">
      <span class="muted">${t("limits.custom")}</span>${" "}
      ${more > 0 ? rich("limits.custom-more", { users: named, n: more }) : named}
    </p>
  `;
}

/** @param {{user: Overridden, own: Api.Override, fields: Fields}} props */
function User({ user, own, fields }) {
  const isFit = Object.keys(own).every((field) => fields[field]); // the kind of the limit may have changed since
  const numbers = () => commas(Object.entries(own).map(([field, value]) => (fields[field].isLength ? t("limits.one-every", { time: length(seconds(String(value))) }) : amount(Number(value)))));
  return html`<a href=${linkTo(state, "people", { user: user.user_id })}><bdi>${nameOf(user)}</bdi></a> ${isFit ? numbers() : t("limits.custom-unfit")}`;
}
