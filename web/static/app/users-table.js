// The table of throttled users. Only the rows on the screen are drawn, so that thousands cost no more than dozens.

import { html, useEffect, useLayoutEffect, useRef } from "../vendor/htm-preact.js";
import { controlID } from "./amending.js";
import { heldRow, hold, placed, release } from "./held-row.js";
import { useLazyRows } from "./lazy-rows.js";
import { isStanding, mayModerate, update } from "./state.js";
import { UserRow } from "./user-row.js";

const columns = ["User", "Limit", "May write again", "Throttled", "Strikes", "Done"];

export function UsersTable({ state, stale }) {
  useKeptFocus();
  const { body, first, count, height } = useLazyRows();
  const rows = useRows(state.users);
  const held = heldRow();
  const drawn = rows.filter(({ index }) => (index >= first && index < first + count) || index === held?.index);
  const shown = [...drawn, ...useOver(state.users, drawn)];
  useEffect(() => () => update((s) => (s.held = null)), []);
  return html`
    <div class="users ${stale} ${mayModerate() ? "steered" : ""}" role="table" aria-label="Throttled users" aria-rowcount=${rows.length + 1}>
      <div role="row" class="head" aria-rowindex="1">
        ${columns.map((name) => html`<span role="columnheader">${name}</span>`)}
        ${mayModerate() && html`<span role="columnheader"><span class="unseen">Act</span></span>`}
      </div>
      <div role="rowgroup" class="rows" ref=${body} style=${{ height: ((rows.at(-1)?.index ?? -1) + 1) * height + "px" }} ...${holding(rows)}>
        ${shown.map(({ user, index, isLeaving }) => html`
          <${UserRow} key=${user.user_id} state=${state} user=${user} index=${index} height=${height} isLeaving=${isLeaving}
            held=${held?.id === user.user_id ? held : null} />
        `)}
      </div>
    </div>
  `;
}

// useKeptFocus gives the focus back to what has it: a row that is moved among the others while they are drawn loses it.
function useKeptFocus() {
  const focused = document.activeElement;
  useLayoutEffect(() => {
    if (document.activeElement === document.body && focused.isConnected) focused.focus({ preventScroll: true });
  });
}

// useRows returns all rows. The one held is there even where its user has gone, as they were known last.
function useRows(users) {
  const last = useRef(null);
  const id = heldRow()?.id;
  const user = users.get(id);
  if (user && isStanding(user)) last.current = user;
  else if (last.current?.user_id === id && !last.current?.isGone) last.current = { ...last.current, isGone: true };
  const standing = [...users.values()].filter(isStanding).reverse();
  return placed(standing, last.current?.user_id === id ? last.current : null);
}

// useOver returns the rows of users whose time has just been over, to be seen leaving where they were.
function useOver(users, drawn) {
  const seen = useRef(new Map());
  const ids = new Set(drawn.map(({ user }) => user.user_id));
  const over = [...seen.current].filter(([id]) => !ids.has(id) && users.has(id) && !isStanding(users.get(id)));
  const leaving = over.map(([id, index]) => ({ user: users.get(id), index, isLeaving: true }));
  seen.current = new Map([...drawn, ...leaving].map(({ user, index }) => [user.user_id, index]));
  return leaving;
}

// holding keeps the row still that somebody is at, and lets the arrow keys go from row to row.
function holding(rows) {
  const holdRow = (element, by) => element && hold(element.dataset.user, Number(element.dataset.index), by);
  const ofEvent = (event) => event.target.closest(".row");
  return {
    onPointerMove: (event) => event.pointerType === "mouse" && holdRow(ofEvent(event), "pointer"),
    onPointerLeave: () => {
      release("pointer");
      holdRow(document.activeElement.closest(".row"), "focus");
    },
    onFocusCapture: (event) => holdRow(ofEvent(event), "focus"),
    onBlurCapture: () => setTimeout(() => document.activeElement.closest(".row") || (document.hasFocus() && release("focus"))),
    onKeyDown: (event) => step(event, rows),
  };
}

const steps = { ArrowUp: (at) => at - 1, ArrowDown: (at) => at + 1, Home: () => 0, End: () => Infinity };

// step moves the focus to the same control of another row, drawn or not.
function step(event, rows) {
  const [, control] = event.target.id.match(/^(\w+)-of-/) ?? [];
  if (!steps[event.key] || !control || heldRow()?.asks) return;
  event.preventDefault();
  const at = rows.findIndex(({ user }) => user.user_id === heldRow()?.id);
  const { user, index } = rows[Math.max(0, Math.min(rows.length - 1, steps[event.key](at)))];
  hold(user.user_id, index, "focus");
  update((s) => (s.focus = controlID(user.user_id, control)));
}
