// @ts-check
// The page People: the user search, and the card of the selected user.

import { html, useEffect } from "../../vendor/htm-preact.js";
import { UserCard } from "./card.js";
import { enter, refresh, show } from "./people.js";
import { PeopleSearch } from "./search.js";
import { keepWeek } from "./week.js";
import { EntryDialog } from "../widgets/entry-dialog.js";
import { PageHead } from "../widgets/page-head.js";
/** @import { State } from "../core/state.js" */
/** @import { People } from "./people.js" */

const pause = 3000; // between two loads of the card, ms

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

  const people = state.people?.channel === channel ? state.people : null; // not another channel's
  if (!people) return html`<${PageHead} title="People" />`;
  const { person, isBrowsing } = people;
  return html`
    <${PageHead} title="People" />
    <div class="people ${person && !isBrowsing ? "chosen" : ""}">
      <${PeopleSearch} state=${state} people=${people} />
      <section class="person" aria-label="Selected user">
        ${person ? html`<${UserCard} key=${person.id} state=${state} person=${person} />` : html`<p class="muted nobody-chosen">${hint(people)}</p>`}
      </section>
    </div>
    <${EntryDialog} state=${state} zone=${person?.card?.timezone} />
  `;
}

/** @param {People} of */
function hint({ found }) {
  return found?.users.length > 0 ? "Select a user to see their limits and throttled messages." : "";
}
