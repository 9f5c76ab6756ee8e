// @ts-check
// The table of throttled users. Only visible rows are drawn, so that thousands cost no more than
// dozens.

import { t, table } from "../../text/text.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef } from "../../vendor/htm-preact.js";
import { farewell, isStanding, mayHelp, state, update } from "../core/state.js";
import { fixedRows, heldRow, hold, placed, release } from "./held-row.js";
import { controlID } from "./question.js";
import { userRow } from "./row.js";
import { useLazyRows } from "../widgets/lazy-rows.js";
/** @import { State, User } from "../core/state.js" */
/** @import { Row } from "./held-row.js" */
/** @import { View } from "./view.js" */
/** @import { View as Drawn } from "../../vendor/htm-preact.js" */

const columns = table({
  user: "now.column-user", action: "now.column-action", limit: "now.limit", count: "now.column-count", strikes: "now.column-strikes", until: "now.column-until",
  message: "now.column-message",
});

/** @param {{state: State, users: User[], tab: View["tab"], stale: string}} props */
export function UsersTable({ state, users, tab, stale }) {
  useKeptFocus();
  const { body, first, count, height } = useLazyRows("--user-row");
  const rows = useRows(state.users, users);
  const held = heldRow();
  const rowCount = useRef(0), ends = (rows.at(-1)?.index ?? -1) + 1;
  rowCount.current = held ? Math.max(rowCount.current, ends) : ends; // at the end of the page, a lower list would move the held row
  const drawn = rows.filter(({ index }) => (index >= first && index < first + count) || index === held?.index);
  /** @type {Row[]} */
  const shown = [...drawn, ...useOver(state.users, drawn)];
  /** @type {Map<string, Drawn>} */
  const views = useMemo(() => new Map(), [users]);
  /** @param {Row} row */
  const drawOnce = ({ user, index, isLeaving }) => {
    const key = `${user.user_id} ${isLeaving} ${height}`;
    const view = views.get(key) ?? userRow({ state, user, tab, index, height, isLeaving, held: held?.id === user.user_id ? held : null });
    views.set(key, view);
    return view;
  };
  useEffect(() => () => update((s) => (s.held = s.pointed = null)), []);
  return html`
    <div class="users ${stale} ${mayHelp() ? "steered" : ""}" role="table" aria-label=${t("now.users")} aria-rowcount=${rows.length + 1}>
      <div role="row" class="head" aria-rowindex="1">
        ${Object.values(columns).map((name) => html`<span role="columnheader">${name}</span>`)}
        ${mayHelp() && html`<span role="columnheader"><span class="unseen">${t("now.column-change")}</span></span>`}
      </div>
      <div role="rowgroup" class="rows" ref=${body} style=${{ height: rowCount.current * height + "px" }} ...${holding(rows)}>
        ${shown.map(drawOnce)}
      </div>
    </div>
  `;
}

// useKeptFocus restores the focus after drawing, because a row that moves among the others loses
// it.
function useKeptFocus() {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  useLayoutEffect(() => {
    // focusing the body costs a layout, and changes nothing
    if (focused !== document.body && document.activeElement === document.body && focused.isConnected) focused.focus({ preventScroll: true });
  });
}

// useRows returns the rows of the listed users, and the rows that stay in place although their
// users are no longer listed.
/** @param {Map<string, User>} users @param {User[]} listed */
function useRows(users, listed) {
  const last = useRef(/** @type {Map<string, User>} */ (new Map()));
  /** @type {Row[]} */
  const fixed = [];
  for (const { id, index } of fixedRows()) {
    const user = listed.find(({ user_id }) => user_id === id) ?? gone(users.get(id) ?? last.current.get(id));
    if (user) fixed.push({ user, index });
  }
  last.current = new Map(fixed.map(({ user }) => [user.user_id, user]));
  return placed(listed, fixed);
}

/** @param {User | undefined} user */
const gone = (user) => user && { ...user, isGone: true };

// useOver returns the rows of users who have just left the list. Each row leaves from its last
// position.
/** @param {Map<string, User>} users @param {Row[]} drawn */
function useOver(users, drawn) {
  const seen = useRef(new Map());
  const ids = new Set(drawn.map(({ user }) => user.user_id));
  const over = [...seen.current].filter(([id]) => !ids.has(id) && users.has(id) && isOver(users.get(id)));
  const leaving = over.map(([id, index]) => ({ user: users.get(id), index, isLeaving: true }));
  seen.current = new Map([...drawn, ...leaving].map(({ user, index }) => [user.user_id, index]));
  return leaving;
}

// isOver reports whether a user was throttled or listed until a moment ago.
/** @param {User} user */
const isOver = (user) => user.leaving || (user.held ? !isStanding(user) : Date.now() - user.left < farewell);

// holding returns event handlers. They hold the row that has the pointer or the focus, and move the
// focus between rows with the arrow keys. A row may come under a mouse at rest, because the page has
// moved: it doesn't take the place of a row that has the focus.
/** @param {Row[]} rows */
function holding(rows) {
  /** @param {HTMLElement | null} element @param {"pointer" | "focus"} by */
  const holdRow = (element, by) => element && hold(element.dataset.user, Number(element.dataset.index), by);
  /** @type {(event: Event) => HTMLElement | null} */
  const ofEvent = (event) => /** @type {Element} */ (event.target).closest(".row");
  /** @type {() => HTMLElement | null} */
  const focusedRow = () => document.activeElement.closest(".row");
  return {
    /** @param {PointerEvent} event */
    onPointerMove: (event) => event.pointerType === "mouse" && holdRow(ofEvent(event), "pointer"),
    /** @param {PointerEvent} event */
    onPointerOver: (event) => event.pointerType === "mouse" && heldRow()?.by !== "focus" && holdRow(ofEvent(event), "pointer"),
    onPointerLeave: () => {
      release("pointer");
      holdRow(focusedRow(), "focus");
    },
    /** @param {FocusEvent} event */
    onFocusCapture: (event) => holdRow(ofEvent(event), "focus"),
    onBlurCapture: () => setTimeout(() => focusedRow() || isAnswering() || (document.hasFocus() && release("focus"))),
    /** @param {KeyboardEvent} event */
    onKeyDown: (event) => step(event, rows),
  };
}

// isAnswering reports whether the held row shows the outcome of a change, or will. Such a row stays
// even if a click elsewhere takes the focus, such as the second one of a double click.
function isAnswering() {
  const held = heldRow();
  return held?.asks === "answer" || state.changes[held?.id]?.busy;
}

/** @type {Record<string, (at: number) => number>} */
const steps = { ArrowUp: (at) => at - 1, ArrowDown: (at) => at + 1, Home: () => 0, End: () => Infinity };

// step moves the focus to the same control of another row, even if that row isn't drawn yet.
/** @param {KeyboardEvent} event @param {Row[]} rows */
function step(event, rows) {
  const [, control] = /** @type {Element} */ (event.target).id.match(/^(\w+)-of-/) ?? [];
  if (!steps[event.key] || !control || heldRow()?.asks) return;
  event.preventDefault();
  const at = rows.findIndex(({ user }) => user.user_id === heldRow()?.id);
  const { user, index } = rows[Math.max(0, Math.min(rows.length - 1, steps[event.key](at)))];
  hold(user.user_id, index, "focus");
  update((s) => (s.focus = controlID(user.user_id, control)));
}
