// @ts-check
// The frame of the pages Journal and Audit: the filters above the records, and the button for older
// records below. The address bar contains the filters.

import { t } from "../../text/text.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { linkTo, parse } from "../core/route.js";
import { csvAddress, filtersOf, loadMore } from "./records.js";
/** @import { View } from "../../vendor/htm-preact.js" */
/** @import { Query, State } from "../core/state.js" */
/** @import { Kind, Records } from "./records.js" */

/** @typedef {(news: Query, isTyping?: boolean) => void} Choose */

// RecordsFilters shows the filter fields and the export link.
/** @param {{label: string, name: Kind, records: Records, children: View}} props */
export function RecordsFilters({ label, name, records, children }) {
  return html`
    <form class="filters" role="search" aria-label=${label} novalidate onSubmit=${(event) => event.preventDefault()}>
      ${children}
      <a class="export" href=${csvAddress(name, records)} download>${t("records.export")}</a>
    </form>
  `;
}

// filter returns a function that sets filters in the address bar and keeps the others. What is
// being typed replaces the address, so that the browser's history isn't flooded.
/** @param {State} state @param {Kind} page */
export const filter = (state, page) => (/** @type {Query} */ news, /** @type {boolean} */ isTyping = false) => {
  const address = linkTo(state, page, filtersOf(page, { ...parse(location.hash).query, ...news }));
  if (!isTyping) location.hash = address;
  else {
    history.replaceState(null, "", address);
    dispatchEvent(new Event("hashchange"));
  }
};

const typingPause = 200; // from the last key to the filter, ms

// Text is a filter with a text field. It applies when typing pauses, on Enter, or when the field
// loses the focus.
/** @param {{name: string, label: string, value?: string, choose: Choose, set?: (text: string) => Query}} props */
export function Text({ name, label, value = "", choose, set = (text) => ({ [name]: text }) }) {
  const [text, write] = useState(value);
  const applied = useRef(value); // the last value that was chosen here
  const waiting = useRef(0);
  const [steps, step] = useState(0); // links and steps in the browser's history that were followed
  useLayoutEffect(() => {
    if (value !== applied.current) write((applied.current = value));
  }, [value, steps]); // a step can restore the former value before the one chosen here is drawn
  useEffect(() => {
    const follow = () => step((n) => n + 1);
    addEventListener("popstate", follow);
    return () => {
      removeEventListener("popstate", follow);
      clearTimeout(waiting.current);
    };
  }, []);
  /** @param {string} typed */
  const apply = (typed) => {
    clearTimeout(waiting.current);
    if (typed.trim() !== applied.current) choose(set((applied.current = typed.trim())), true);
  };
  /** @param {string} typed */
  const type = (typed) => {
    write(typed);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => apply(typed), typingPause);
  };
  return html`
    <div class="field">
      <label for=${`filter-${name}`}>${label}</label>
      <input id=${`filter-${name}`} type="search" autocomplete="off" spellcheck=${false} maxlength="256" value=${text} onInput=${(event) => type(event.target.value)}
        onChange=${(event) => apply(event.target.value)} />
    </div>
  `;
}

// NameFilter is a filter by a part of a user's name. It replaces a link's filter by the user's ID.
/** @param {{filters: Query, choose: Choose}} props */
export function NameFilter({ filters, choose }) {
  return html`
    <${Text} name="name" label=${t("records.user")} value=${filters.name ?? filters.user} choose=${choose} set=${(/** @type {string} */ name) => ({ name, user: "", entry: "" })} />`;
}

// Choice is a filter with a few values; choices maps each to its name.
/**
 * @param {{name: string, label: string, value?: string, choices: Record<string, string>, choose: Choose}} props
 */
export function Choice({ name, label, value = "", choices, choose }) {
  return html`
    <div class="field">
      <label for=${`filter-${name}`}>${label}</label>
      <select id=${`filter-${name}`} value=${value} onChange=${(event) => choose({ [name]: event.target.value })}>
        <option value="" selected=${value === ""}>${t("records.all")}</option>
        ${Object.entries(choices).map(([key, text]) => html`<option value=${key} selected=${key === value}>${text}</option>`)}
      </select>
    </div>
  `;
}

// RecordsEnd shows the button for older records, or says that there are none. If there are no
// records at all, it shows unfitting if filters are set, otherwise none.
/** @param {{name: Kind, records: Records, none: string, unfitting: string}} props */
export function RecordsEnd({ name, records: { rows, more, busy, filters, problem }, none, unfitting }) {
  if (!rows) return problem ? null : html`<p class="more muted">${t("shell.loading")}</p>`;
  if (more) {
    return html`
      <p class="more">
        <button type="button" aria-disabled=${busy ? "true" : "false"} onClick=${() => loadMore(name)}>${busy ? t("shell.loading") : t("records.load-older")}</button>
      </p>`;
  }
  if (rows.length > 0) return html`<p class="more muted">${t("records.no-older")}</p>`;
  return html`<p class="none muted">${Object.keys(filters).length > 0 ? unfitting : none}</p>`;
}
