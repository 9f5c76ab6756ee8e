// @ts-check
// The card of a user: whether they may write, buttons to change that, limits, throttled messages.

import { gap, rich, sentences, t } from "../../text/text.js";
import { html, useEffect, useRef } from "../../vendor/htm-preact.js";
import { linkTo } from "../core/route.js";
import { loginOf, mayHelp, nameOf, now, shownID, update } from "../core/state.js";
import { UserButtons } from "./change-form.js";
import { UserNotes } from "./notes.js";
import { reload } from "./people.js";
import { UserLimits } from "./standing.js";
import { UserWeek } from "./week.js";
import { entryRow } from "../widgets/entry-row.js";
import { OverrideWords } from "../words/overrides.js";
import { penaltyWords } from "../words/penalties.js";
import { roleNames } from "../words/roles.js";
import { stamp, upcoming, wait } from "../words/time.js";
import { sameAgain, Why } from "../words/why.js";
/** @import { State } from "../core/state.js" */
/** @import { Card, Person } from "./people.js" */

/** @param {{state: State, person: Person}} props */
export function UserCard({ state, person }) {
  const { id, card, problem, isGone } = person;
  const why = useAnnouncedWhy(card), same = card && sameAgain(card);
  if (isGone || !card) return html`<p class=${problem ? "error" : "muted"} role="status">${problem || rich("people.loading", { who: html`<bdi>${shownID(id)}</bdi>` })}</p>`;
  return html`
    <div class="identity">
      <h2><bdi>${nameOf(card)}</bdi>${loginOf(card) && html` <bdi class="login muted">${loginOf(card)}</bdi>`}</h2>
      <p class="muted">${about(card)}</p>
    </div>
    ${problem && html`<p class="error" role="alert">${sentences(problem, t("shell.earlier"))}</p>`}
    <div class=${problem ? "stale" : ""}>
      <p class="why" ref=${why}><${Why} card=${card} state=${state} />${same && `${gap}${same}`}</p>
      <p class="muted">${strikes(card)}</p>
      ${mayHelp() && html`<${UserButtons} state=${state} person=${person} />`}
      <${UserNotes} person=${person} />
      <${UserLimits} card=${card} shared=${state.status?.shared} />
      <${UserOwn} card=${card} />
      <${UserWeek} person=${person} />
      <${Entries} state=${state} card=${card} />
    </div>
  `;
}

// useAnnouncedWhy returns a ref. When the card is loaded, a screen reader announces the text of the
// ref's element once.
/** @param {Card | null} card */
function useAnnouncedWhy(card) {
  const why = useRef(null);
  const isThere = card !== null;
  useEffect(() => {
    if (isThere) update((s) => (s.announcement = why.current.textContent));
  }, [isThere]);
  return why;
}

/** @param {Card} of */
function about({ user_id: id, roles, last_seen: seen, entries_unavailable: unavailable }) {
  const unseen = unavailable ? t("people.unavailable") : t("people.unseen");
  return [t("people.id", { id: shownID(id) }), roleNames(roles), seen ? t("people.last-seen", { time: stamp(Date.parse(seen)) }) : unseen].filter(Boolean).join("\u00a0· "); // no line begins with the point
}

/** @param {Card} of */
function strikes({ strikes: count = 0, lapse_at: lapseAt, next }) {
  if (!count) return sentences(t("people.no-strikes"), next && t("people.first-penalty", { penalty: penaltyWords(next) }));
  const at = Date.parse(lapseAt ?? "");
  const standing = at ? t("people.strikes-lapse", { n: count, wait: wait(at - now()), time: upcoming(at) }) : t("people.strikes", { n: count });
  return sentences(standing, t("people.next-penalty", { penalty: penaltyWords(next) }));
}

/** @param {{state: State, card: Card}} props */
function Entries({ state, card }) {
  const { entries = [], entries_unavailable: unavailable } = card;
  const name = nameOf(card);
  return html`
    <section class="part" aria-labelledby="last-entries">
      <h3 id="last-entries">${t("people.entries")}</h3>
      ${unavailable && html`<p class="warn">${t("people.no-journal")}</p>`}
      ${!unavailable && entries.length === 0 && html`<p class="muted">${rich("people.no-entries", { who: html`<bdi>${name}</bdi>` })}</p>`}
      ${entries.length > 0 && html`
        <div class="entries of-user" role="table" aria-labelledby="last-entries">
          <${EntryHead} />
          ${entries.map((entry) => entryRow({ state, entry, then: reload }))}
        </div>
        <p><a href=${linkTo(state, "journal", { user: card.user_id })}>${t("people.all-entries")}</a></p>`}
    </section>
  `;
}

function EntryHead() {
  const names = [t("people.time"), t("now.column-message"), t("now.limit"), t("now.column-action"), ...(mayHelp() ? [t("now.pardon")] : [])];
  return html`<div role="row" class="head">${names.map((name) => html`<span role="columnheader">${name}</span>`)}</div>`;
}

/** @param {{card: Card}} props */
function UserOwn({ card: { override, everywhere_override: everywhere = {}, limits } }) {
  const unfit = limits.filter(({ name, own }) => !own && (override.limits?.[name] || everywhere.limits?.[name]));
  return html`
    <section class="part" aria-labelledby="own">
      <h3 id="own">${t("people.own")}</h3>
      <p><${OverrideWords} own=${override} none=${t("people.own-none")} /></p>
      ${Object.keys(everywhere).length > 0 && html`
        <p>${rich("people.everywhere", { limits: html`<${OverrideWords} own=${everywhere} none="" />` })} <span class="muted">${t("people.everywhere-fixed")}</span></p>`}
      ${unfit.map(({ name }) => html`<p class="warn" key=${name}>${rich("people.own-unfit", { limit: html`<bdi>${name}</bdi>` })}</p>`)}
    </section>
  `;
}
