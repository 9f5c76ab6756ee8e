// The table of throttled users. Only the rows on the screen are drawn, so that thousands cost no more than dozens.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact.js";
import { deed } from "./deed.js";
import { RefillBar } from "./refill-bar.js";
import { now } from "./state.js";
import { clock, wait } from "./time.js";

const spare = 8; // rows drawn above and below the screen

export function UsersTable({ users, stale }) {
  const body = useRef(null);
  const [view, setView] = useState(() => ({ first: 0, count: 40, height: rowHeight() }));
  const measure = () => {
    const height = rowHeight();
    const first = Math.max(0, Math.floor(-body.current.getBoundingClientRect().top / height) - spare);
    const count = Math.ceil(innerHeight / height) + 2 * spare;
    setView((old) => (old.first === first && old.count === count && old.height === height ? old : { first, count, height }));
  };
  useLayoutEffect(measure, []);
  useEffect(() => {
    addEventListener("scroll", measure, { passive: true });
    addEventListener("resize", measure);
    return () => {
      removeEventListener("scroll", measure);
      removeEventListener("resize", measure);
    };
  }, []);

  const newestFirst = [...users.values()].reverse();
  const drawn = newestFirst.slice(view.first, view.first + view.count);
  return html`
    <div class="users ${stale}" role="table" aria-label="Throttled users" aria-rowcount=${users.size + 1}>
      <div role="row" class="head" aria-rowindex="1">
        ${["User", "Limit", "May speak again", "Throttled", "Strikes", "Done"].map((name) => html`<span role="columnheader">${name}</span>`)}
      </div>
      <div role="rowgroup" class="rows" ref=${body} style=${{ height: users.size * view.height + "px" }}>
        ${drawn.map((user, i) => html`<${Row} key=${user.user_id} user=${user} index=${view.first + i} height=${view.height} />`)}
      </div>
    </div>
  `;
}

// The height of a row in px, which a narrow screen has larger: known before the first is drawn, so that none glides into place.
const rowHeight = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));

const fresh = 1000; // so long a row is seen arriving, ms

function Row({ user, index, height }) {
  const kind = user.leaving ? "leaving" : Date.now() - user.arrived < fresh ? "arriving" : "";
  const { word, kind: how, detail } = deed(user);
  return html`
    <div role="row" class="row ${kind}" aria-rowindex=${index + 2} style=${{ transform: `translateY(${index * height}px)` }}>
      <${Who} user=${user} />
      <span role="cell" class="limit">${user.limit}</span>
      <${MaySpeak} user=${user} />
      <span role="cell" class="count">${user.count}<span class="unit">×</span></span>
      <span role="cell" class="strikes">${user.strikes}<span class="unit"> ${user.strikes === 1 ? "strike" : "strikes"}</span></span>
      <span role="cell" class="deed ${how}" title=${detail || null}>${word}${detail && html`<span class="detail">: ${detail}</span>`}</span>
    </div>
  `;
}

function Who({ user: { display_name: shown, login, user_id: id } }) {
  const name = shown || login || id;
  const other = login && login.toLowerCase() !== name.toLowerCase() ? login : "";
  return html`
    <span role="cell" class="who" title=${other ? `${name} (${other})` : name}>
      <bdi>${name}</bdi>${other && html` <bdi class="login">${other}</bdi>`}
    </span>
  `;
}

function MaySpeak({ user }) {
  if (user.never) return html`<span role="cell" class="may-speak"><span class="left">too long for this limit; shorter ones may pass</span></span>`;
  const at = Date.parse(user.may_speak_at);
  const left = at - now();
  return html`
    <span role="cell" class="may-speak">
      <${RefillBar} key=${user.since + user.may_speak_at} since=${Date.parse(user.since)} until=${at} />
      <span class="left">${left > 0 ? "in " + wait(left) : "now"}</span>
      <time datetime=${user.may_speak_at}>${clock(at)}</time>
    </span>
  `;
}
