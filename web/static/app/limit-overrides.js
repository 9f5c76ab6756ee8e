// The users who have numbers of their own in a limit.

import { html } from "../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { request } from "./api.js";
import { inOrder } from "./in-order.js";
import { linkTo } from "./route.js";
import { ifSignedOut } from "./session.js";
import { shownID, state, update } from "./state.js";
import { length, seconds } from "./time.js";

const shown = 20; // users of one limit; the others are on the page People

const asked = inOrder(); // each time that it is fetched

// loadOverrides fetches who has something of their own in the channel shown.
export async function loadOverrides() {
  const { channel } = state;
  const isNews = asked();
  const keep = (overrides) => isNews() && channel === state.channel && update((s) => (s.overrides = overrides));
  try {
    const { body } = await request("GET", `/channels/${encodeURIComponent(channel)}/overrides`);
    keep({ users: body.users, problem: "" });
  } catch (problem) {
    if (!ifSignedOut(problem)) keep({ users: [], problem: problem.message });
  }
}

export function LimitOverrides({ name, fields, overrides }) {
  const users = (overrides?.users ?? []).filter(({ override }) => override.limits?.[name]);
  if (users.length === 0) return null;
  return html`
    <p class="overrides">
      <span class="muted">Single users: </span>
      ${users.slice(0, shown).map((user, i) => html`${i > 0 && ", "}<${User} user=${user} own=${user.override.limits[name]} fields=${fields} />`)}
      ${users.length > shown && ` and ${amount(users.length - shown)} more`}
    </p>
  `;
}

function User({ user: { user_id: id, login }, own, fields }) {
  const numbers = Object.entries(own).map(([field, value]) => (fields[field]?.isLength ? `one every ${length(seconds(value))}` : amount(value)));
  return html`<a href=${linkTo(state, "people", { user: id })}><bdi>${login || shownID(id)}</bdi></a> ${numbers.join(", ")}`;
}
