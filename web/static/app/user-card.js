// The card of a user: why they may write or not, how they stand with every limit, what can be done about that, and what has been.

import { html, useEffect, useRef } from "../vendor/htm-preact.js";
import { EntryRow } from "./entry-row.js";
import { penaltyWords } from "./penalty-words.js";
import { reload } from "./people.js";
import { roleNames } from "./roles.js";
import { linkTo } from "./route.js";
import { mayModerate, now, shownID, update } from "./state.js";
import { soon, stamp, wait } from "./time.js";
import { UserButtons } from "./user-buttons.js";
import { UserLimits } from "./user-limits.js";
import { UserOwn } from "./user-own.js";
import { UserWeek } from "./user-week.js";
import { Why } from "./why.js";

export function UserCard({ state, person }) {
  const { id, card, problem, isGone } = person;
  const why = useAnnouncedWhy(card);
  if (isGone || !card) return html`<p class=${problem ? "error" : "muted"} role="status">${problem || html`Looking up <bdi>${shownID(id)}</bdi>…`}</p>`;
  return html`
    <div class="identity">
      <h2><bdi>${card.login || shownID(card.user_id)}</bdi></h2>
      <p class="muted">${about(card)}</p>
    </div>
    ${problem && html`<p class="error" role="alert">${problem} What you see is what was known before.</p>`}
    <div class=${problem ? "stale" : ""}>
      <p class="why" ref=${why}><${Why} card=${card} state=${state} /></p>
      <p class="muted">${strikes(card)}</p>
      ${mayModerate() && html`<${UserButtons} state=${state} person=${person} />`}
      <${UserLimits} card=${card} />
      <${UserOwn} card=${card} />
      <${UserWeek} person=${person} />
      <${Entries} state=${state} card=${card} />
    </div>
  `;
}

// useAnnouncedWhy lets a screen reader say the sentence that stands in the place returned, once, when the card is there.
function useAnnouncedWhy(card) {
  const why = useRef(null);
  const isThere = card !== null;
  useEffect(() => {
    if (isThere) update((s) => (s.announcement = why.current.textContent));
  }, [isThere]);
  return why;
}

function about({ user_id: id, roles, last_seen: seen, entries_unavailable: unavailable, timezone }) {
  const unseen = unavailable ? "login and roles can’t be read at present" : "not seen here, as far as chatguard remembers";
  return [`ID ${shownID(id)}`, roleNames(roles), seen ? `last seen ${stamp(Date.parse(seen), timezone)}` : unseen].filter(Boolean).join(" · ");
}

function strikes({ strikes: count = 0, lapse_at: lapseAt, next, timezone }) {
  if (!count) return next ? `No strikes. The first one leads to: ${penaltyWords(next)}.` : "No strikes.";
  const forgotten = lapseAt ? `, forgotten in ${wait(Date.parse(lapseAt) - now())}, at ${soon(Date.parse(lapseAt), timezone)}` : "";
  return `${count} ${count === 1 ? "strike" : "strikes"}${forgotten}. Next on the ladder: ${penaltyWords(next)}.`;
}

function Entries({ state, card }) {
  const { entries = [], entries_unavailable: unavailable } = card;
  const name = card.login || shownID(card.user_id);
  return html`
    <section class="part" aria-labelledby="last-entries">
      <h3 id="last-entries">Throttled lately</h3>
      ${unavailable && html`<p class="warn">The journal can’t be read at present: the database is in trouble.</p>`}
      ${!unavailable && entries.length === 0 && html`<p class="muted">No message of <bdi>${name}</bdi> was throttled, as far as the journal goes back.</p>`}
      ${entries.length > 0 && html`
        <div class="entries of-user" role="table" aria-labelledby="last-entries">
          <${EntryHead} />
          ${entries.map((entry) => html`<${EntryRow} key=${entry.id} state=${state} entry=${entry} zone=${card.timezone} then=${reload} />`)}
        </div>
        <p><a href=${linkTo(state, "journal", { user: card.user_id })}>All of them in the journal</a></p>`}
    </section>
  `;
}

function EntryHead() {
  const names = ["Time", "Message", "Limit", "Done", ...(mayModerate() ? ["Pardon"] : [])];
  return html`<div role="row" class="head">${names.map((name) => html`<span role="columnheader">${name}</span>`)}</div>`;
}
