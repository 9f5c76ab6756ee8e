// @ts-check
// Changing the user whose card is shown: the form that is open, and the outcome of the last change.

import { loadWeek } from "./week.js";
import { change, reload } from "./people.js";
import * as changes from "./changes.js";
import { overrideDraft, overrideErrors, overrideOf } from "./override.js";
import { state } from "../shell/state.js";
/** @import { Outcome } from "./changes.js" */
/** @import { Card, Person } from "./people.js" */

/** @typedef {keyof typeof drafts} Kind */

/**
 * ChangeForm is the open form of a card.
 * @typedef {object} ChangeForm
 * @property {Kind} kind
 * @property {any} draft what has been typed; its shape depends on the kind
 * @property {Record<string, string>} errors what is wrong with the draft, by field
 * @property {string} etag of the override when the form was opened
 * @property {string} problem why chatguard refused the change
 * @property {boolean} busy chatguard hasn't answered yet
 */

const shown = () => state.people.person;

const drafts = {
  /** @param {Card} card */
  grant: (card) => ({ messages: "10", limit: changes.grantedUsually(card) }),
  exempt: () => ({ length: "10m" }),
  reset: () => ({}),
  override: overrideDraft,
};

// open opens a form and closes any other. If the form is already open, open closes it.
/** @param {Kind} kind */
export function open(kind) {
  const { form, card } = shown();
  if (form?.busy) return;
  change(shown(), { outcome: null, form: form?.kind === kind ? null : fresh(kind, card) });
}

/** @param {Kind} kind @param {Card} card */
function fresh(kind, card) {
  return { kind, draft: drafts[kind](card), errors: {}, etag: card.override_etag, problem: "", busy: false };
}

// startOver resets the open form to the current values.
export function startOver() {
  change(shown(), { form: fresh(shown().form.kind, shown().card) });
}

export function close() {
  if (!shown().form?.busy) change(shown(), { form: null });
}

/** @type {Partial<Record<Kind, (draft: any, card: Card) => Record<string, string>>>} */
const checks = {
  grant: ({ messages }) => (/^[1-9]\d*$/.test(messages.trim()) ? {} : { messages: "Enter a whole number, 1 or more." }),
  override: overrideErrors,
};

// edit changes the draft of the open form.
/** @param {object} news */
export function edit(news) {
  const { form, card } = shown();
  if (form.busy) return;
  const draft = { ...form.draft, ...news };
  change(shown(), { form: { ...form, draft, errors: checks[form.kind]?.(draft, card) ?? {}, problem: "" } });
}

// isOutdated reports whether someone else has changed the override since the form was opened.
/** @param {Person} of */
export function isOutdated({ form, card }) {
  return form?.kind === "override" && form.etag !== card.override_etag;
}

// requests make the change that a form asks for.
/** @type {Record<Kind, (person: Person, draft: any) => Promise<Outcome | null>>} */
const requests = {
  grant: ({ id, card }, { messages, limit }) => changes.grant(id, limit, Number(messages), card.timezone),
  exempt: ({ id, card }, { length }) => changes.exempt(id, changes.exemptLength(card, length), card.timezone),
  reset: ({ id }) => changes.reset(id),
  override: ({ id, card }, draft) => changes.override(id, overrideOf(draft, card), card.override_etag),
};

// submit makes the change that the open form asks for.
export async function submit() {
  const person = shown();
  const { form } = person;
  if (form.busy || Object.keys(form.errors).length > 0 || isOutdated(person)) return;
  change(person, { form: { ...form, busy: true, problem: "" } });
  const outcome = await requests[form.kind](person, form.draft);
  if (outcome?.problem) change(person, { form: { ...form, busy: false, problem: outcome.problem } });
  else if (outcome) change(person, { outcome, form: null });
  if (outcome) await reloadAll();
}

// pardon pardons the last throttled message and all throttled messages before it without a gap.
export async function pardon() {
  const person = shown();
  if (person.isPardoning) return;
  change(person, { isPardoning: true });
  await show(person, changes.pardon(person.id, person.card.timezone));
}

// undo undoes the last change.
export const undo = () => show(shown(), changes.undo(shown().id, shown().outcome.undoing));

/** @param {Person} person @param {Promise<Outcome | null>} asked */
async function show(person, asked) {
  const outcome = await asked;
  if (!outcome) return;
  change(person, { outcome, isPardoning: false, ...(!outcome.problem && { form: null }) });
  await reloadAll();
}

async function reloadAll() {
  await reload();
  await loadWeek();
}
