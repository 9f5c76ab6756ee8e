// @ts-check
// The keys that work on every page.

import { t } from "../../text/text.js";
import { openDialog } from "../core/dialog.js";
import { closeOpened } from "../core/escape.js";
import { fragment, linkTo, shownPages } from "../core/route.js";
import { state, update } from "../core/state.js";
import { closeNotes } from "../limits/form.js";
import { close } from "../now/question.js";
import { closeProblems } from "../now/switches.js";
import { pageKeys } from "./commands.js";

const isApple = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

// commandKey returns the name of the key that opens the command palette together with K.
export const commandKey = () => (isApple ? "⌘" : t("shell.key-ctrl"));

const pause = 1000; // between the two keys that go to a page, ms

let goneAt = 0; // when g was pressed, by the browser's clock, ms; 0 if another key followed

// press does what a key stands for.
/** @param {KeyboardEvent} event */
export function press(event) {
  if (event.isComposing) return; // the key is about the text that is being entered
  if (event.key === "Escape") escape(/** @type {Element} */ (event.target));
  if (state.session !== "in" || state.me.first_run) return;
  if (event.key.toLowerCase() === "k" && (isApple ? event.metaKey : event.ctrlKey) && !event.altKey && !event.shiftKey) {
    event.preventDefault(); // browsers have their own command
    if (!document.querySelector("dialog:modal")) openDialog("palette");
  } else if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(/** @type {Element} */ (event.target))) {
    pressAlone(event);
  }
}

// escape closes one thing, unless the browser does. If there is none, it closes the question of a
// row, and notes.
/** @param {Element} from */
function escape(from) {
  if (document.querySelector("dialog:modal, :popover-open") || closeOpened(from)) return;
  close();
  closeNotes();
  closeProblems();
}

/** @param {KeyboardEvent} event */
function pressAlone(event) {
  const isSecond = Date.now() - goneAt < pause;
  goneAt = 0;
  if (event.key === "/") {
    event.preventDefault(); // otherwise the slash is typed into the field
    find();
  }
  if (document.querySelector("dialog:modal")) return;
  const page = shownPages().find((page) => pageKeys[page] === event.key);
  if (isSecond && page) location.hash = linkTo(state, page);
  else if (event.key === "g") goneAt = Date.now();
  else if (event.key === "?") openDialog("keys");
}

/** @param {Element} element */
const isTyping = (element) => element.closest("input, textarea, select");

// find goes to the user search from any page.
function find() {
  update((s) => {
    s.entry = null; // a dialog keeps the focus inside
    s.dialog = "";
    s.focus = "find";
  });
  if (state.route !== "people") location.hash = fragment("people", state.wanted);
}
