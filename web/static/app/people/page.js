// @ts-check
// The page People: the user search, and the card of the selected user.

import { t } from "../../text/text.js";
import { html, useEffect } from "../../vendor/htm-preact.js";
import { pages } from "../core/route.js";
import { now } from "../core/state.js";
import { UserCard } from "./card.js";
import { enter, refresh, show } from "./people.js";
import { PeopleSearch } from "./search.js";
import { keepWeek } from "./week.js";
import { EntryDialog } from "../widgets/entry-dialog.js";
import { PageHead } from "../widgets/page-head.js";
/** @import { State } from "../core/state.js" */
/** @import { Card, People } from "./people.js" */

const pause = 3000; // between two loads of the card, ms
const margin = 100; // from a change of what the card says to the load that shows it, ms

// nextChange returns when the user may write again, or has another message, ms. The card shows that
// only after it is loaded again.
/** @param {Card} card */
function nextChange({ limits, verdict, silent_until: silentUntil, same_again: same }) {
  const at = Date.parse(verdict.at);
  const times = [at + (verdict.retry_after_ms ?? 0), Date.parse(silentUntil ?? ""), Date.parse(same?.may_speak_at ?? ""), ...limits.map(({ next_at: next }) => Date.parse(next ?? ""))];
  return Math.min(...times.filter((time) => time > at));
}

/** @param {{state: State}} props */
export function PeoplePage({ state }) {
  const { channel, query } = state;
  useEffect(() => {
    enter();
  }, [channel]);
  useEffect(() => {
    show(query.user).then(keepWeek);
  }, [channel, query.user]);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || refresh().then(keepWeek), pause);
    return () => clearInterval(timer);
  }, []);

  useEffect(() => {
    const change = state.people?.person?.card && nextChange(state.people.person.card) - now();
    if (!(change < pause)) return;
    const timer = setTimeout(refresh, Math.max(change, 0) + margin);
    return () => clearTimeout(timer);
  }, [state.people?.person?.card]);

  const people = state.people?.channel === channel ? state.people : null; // not another channel's
  if (!people) return html`<${PageHead} title=${pages.people} />`;
  const { person, isBrowsing } = people;
  return html`
    <${PageHead} title=${pages.people} />
    <div class="people ${person && !isBrowsing ? "chosen" : ""}">
      <${PeopleSearch} state=${state} people=${people} />
      <section class="person" aria-label=${t("people.selected")}>
        ${person ? html`<${UserCard} key=${person.id} state=${state} person=${person} />` : html`<p class="muted nobody-chosen">${hint(people)}</p>`}
      </section>
    </div>
    <${EntryDialog} state=${state} />
  `;
}

/** @param {People} of */
function hint({ found }) {
  return found?.users.length > 0 ? t("people.select") : "";
}
