// @ts-check
// A chat: its newest lines, written directly as they appear, and each user's share of the chat.

import { t } from "../../text/text.js";
import { html, useLayoutEffect, useRef } from "../../vendor/htm-preact.js";
import { shareText } from "../numbers.js";
import { lastLines } from "./lines.js";
import { lineOf, personOf } from "./people.js";
/** @import { Copies } from "../figures.js" */
/** @import { Line, Share } from "./lines.js" */

/** @typedef {{write: (lines: Line[], now: number) => void}} Writer */

/** @param {{id: string, title: string, spoken: string, about: string, shares: Share[], throttled: number, copies: Copies[], writer: Writer}} props */
export function ChatWindow({ id, title, spoken, about, shares, throttled, copies, writer }) {
  const place = useRef(null);
  useLayoutEffect(() => {
    writer.write = (lines, now) => writeLines(place.current, lastLines(lines, now));
  }, []);
  return html`
    <section class="chat-window" aria-labelledby=${`${id}-title`}>
      <h2 class="headline" id=${`${id}-title`}>${title}</h2>
      <p class="muted chat-about">${about}</p>
      <div class="chat-lines" tabindex="0" role="region" aria-label=${spoken}><ol ref=${place} id=${id}></ol></div>
      <p class="chat-throttled" id=${`${id}-throttled`}>${throttled > 0 ? html`<span aria-hidden="true">⊖ </span>${t("lab.chat-throttled", { n: throttled })}` : t("lab.chat-throttled-nothing")}</p>
      <${Shares} id=${`${id}-shares`} shares=${shares} />
      ${copies.length > 0 && html`<${CopiesTable} id=${`${id}-copies`} copies=${copies} />`}
    </section>
  `;
}

/** @param {Line} line */
const keyOf = ({ user, sent }) => `${sent} ${user}`;

// writeLines makes a list show the lines: it removes those that are gone and appends the new ones.
/** @param {HTMLElement | null} list @param {Line[]} lines */
function writeLines(list, lines) {
  if (!list) return;
  const first = lines.length > 0 ? keyOf(lines[0]) : "";
  while (list.firstChild && list.firstElementChild.getAttribute("data-key") !== first) list.firstChild.remove();
  const kept = list.children.length;
  if (kept > lines.length || (kept > 0 && list.lastElementChild.getAttribute("data-key") !== keyOf(lines[kept - 1]))) list.replaceChildren();
  list.append(...lines.slice(list.children.length).map(newRow));
}

/** @param {Line} line */
function newRow(line) {
  const person = personOf(line.user), row = document.createElement("li"), name = document.createElement("strong");
  row.setAttribute("data-key", keyOf(line));
  row.className = person.kind;
  name.className = `hue-${person.number % 6}`;
  name.textContent = person.name;
  row.append(name, ` ${line.text || lineOf(line.sent)}`);
  return row;
}

const named = 3; // people in the table; the others are added up

// inOrder returns shares in an order that doesn't change: the spammer first, then everyone else.
/** @param {Share[]} shares */
const inOrder = (shares) => [...shares].sort((a, b) => Number(personOf(b.user).kind === "spammer") - Number(personOf(a.user).kind === "spammer") || personOf(a.user).number - personOf(b.user).number);

// Shares shows the shares as a bar and as a table.
/** @param {{id: string, shares: Share[]}} props */
function Shares({ id, shares }) {
  const first = shares.slice(0, named), others = shares.slice(named);
  const rest = others.reduce((sum, { count, part }) => ({ count: sum.count + count, part: sum.part + part }), { count: 0, part: 0 });
  return html`
    <div class="share-bar" aria-hidden="true">
      ${inOrder(shares).map(({ user, part }) => html`<span key=${user} class=${personOf(user).kind} style=${{ width: `${100 * part}%` }} title=${`${personOf(user).name}: ${shareText(100 * part)}`}></span>`)}
    </div>
    <table class="shares" id=${id}>
      <caption>${t("lab.shares")}</caption>
      <thead class="unseen"><tr><th scope="col">${t("lab.shares-who")}</th><th scope="col">${t("lab.shares-messages")}</th><th scope="col">${t("lab.shares-share")}</th></tr></thead>
      <tbody>
        ${first.map(({ user, count, part }) => html`<tr key=${user} class=${personOf(user).kind}><th scope="row">${personOf(user).name}</th><td>${count}</td><td>${shareText(100 * part)}</td></tr>`)}
        ${others.length > 0 && html`<tr key="others"><th scope="row">${t("lab.shares-others", { n: others.length })}</th><td>${rest.count}</td><td>${shareText(100 * rest.part)}</td></tr>`}
        ${shares.length === 0 && html`<tr key="none"><td colspan="3" class="muted">${t("lab.shares-nobody")}</td></tr>`}
      </tbody>
    </table>
  `;
}

// CopiesTable shows the texts that were written most, and how many of their copies passed.
/** @param {{id: string, copies: Copies[]}} props */
const CopiesTable = ({ id, copies }) => html`
  <table class="shares" id=${id}>
    <caption>${t("lab.copies-caption")}</caption>
    <thead><tr><th scope="col">${t("lab.copies-message")}</th><th scope="col">${t("lab.column-allowed")}</th><th scope="col">${t("lab.column-throttled")}</th></tr></thead>
    <tbody>${copies.map(({ text, passed, throttled }) => html`<tr key=${text}><th scope="row"><bdi>${text}</bdi></th><td>${passed}</td><td>${throttled}</td></tr>`)}</tbody>
  </table>
`;
