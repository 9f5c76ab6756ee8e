// @ts-check
// Changing the user whose card is shown: the form that is open.

import { t } from "../../text/text.js";
import * as changes from "../changes/user.js";
import { state, timeoutsHere } from "../core/state.js";
import { overrideDraft, overrideErrors, overrideField, overrideOf } from "./override.js";
import { change, reload } from "./people.js";
import { loadWeek } from "./week.js";
import { inForceWords, silenceDone, timeoutName } from "../words/silence.js";
/** @import { Mistake } from "../core/api.js" */
/** @import { Outcome } from "../changes/user.js" */
/** @import { Card, Person } from "./people.js" */

/** @typedef {keyof typeof drafts} Kind */

/**
 * ChangeForm is the open form of a card.
 * @typedef {object} ChangeForm
 * @property {Kind} kind
 * @property {any} draft what has been typed; its shape depends on the kind
 * @property {Record<string, string>} errors what is wrong with the draft, by field
 * @property {string} etag of the override when the form was opened
 * @property {boolean} isTyped something was changed in it
 */

const shown = () => state.people.person;

// isBusy reports whether a change of the user shown is pending.
const isBusy = () => Boolean(state.changes[shown().id]?.busy);

const drafts = {
  /** @param {Card} card */
  grant: (card) => ({ messages: "10", limit: changes.grantedUsually(card) }),
  timeout: () => ({ length: timeoutName(timeoutsHere().lengths[0]), reason: timeoutsHere().reason }),
  ban: () => ({ reason: "" }),
  /** @param {Card} card */
  lift: ({ silenced }) => ({ silenced }),
  exempt: () => ({ length: "10m" }),
  reset: () => ({}),
  override: overrideDraft,
};

// open opens a form and closes any other. If the form is already open, open closes it. What was
// typed before a form was closed is still there, unless it was canceled.
/** @param {Kind} kind */
export function open(kind) {
  if (isBusy()) return;
  const { form, card, kept } = shown();
  if (form?.kind === kind) return close();
  close();
  put(kept[kind] ?? fresh(kind, card));
}

/** @param {Kind} kind @param {Card} card @returns {ChangeForm} */
function fresh(kind, card) {
  return { kind, draft: drafts[kind](card), errors: {}, etag: card.override_etag, isTyped: false };
}

// put replaces the form, and forgets the outcome of an earlier change.
/** @param {ChangeForm | null} form */
function put(form) {
  changes.forget(shown().id);
  change(shown(), { form });
}

// startOver resets the open form to the current values.
export function startOver() {
  put(fresh(shown().form.kind, shown().card));
}

// close closes the open form, and keeps what was typed for when it is opened again.
export function close() {
  if (isBusy()) return;
  const { form, kept } = shown();
  if (form?.isTyped) change(shown(), { kept: { ...kept, [form.kind]: form } });
  put(null);
}

export function cancel() {
  if (isBusy()) return;
  end(shown());
  changes.forget(shown().id);
}

// end closes a user's form, and forgets what was typed.
/** @param {Person} person */
function end(person) {
  const { form, kept } = person;
  change(person, { form: null, kept: form ? { ...kept, [form.kind]: undefined } : kept });
}

/** @type {Partial<Record<Kind, (draft: any, card: Card) => Record<string, string>>>} */
const checks = {
  timeout: ({ length }) => (length.trim() ? {} : { length: t("people.wrong-length") }),
  grant: ({ messages }) => (/^[1-9]\d*$/.test(messages.trim()) ? {} : { messages: t("now.wrong-count") }),
  override: overrideErrors,
};

// edit changes the draft of the open form.
/** @param {object} news */
export function edit(news) {
  const { form, card } = shown();
  if (isBusy() || whyEnded(shown())) return;
  const draft = { ...form.draft, ...news };
  put({ ...form, draft, isTyped: true, errors: checks[form.kind]?.(draft, card) ?? {} });
}

// isOutdated reports whether someone else has changed the override since the form was opened.
/** @param {Person} of */
export function isOutdated({ form, card }) {
  return form?.kind === "override" && form.etag !== card.override_etag;
}

// isConflict reports whether chatguard refused what the open form asks for, because of what others
// have done. Sending the form again confirms it.
export const isConflict = () => Boolean(state.changes[shown().id]?.isConflict);

// silenceOf returns the user's timeout or ban. A refusal may tell of one that the card doesn't know
// yet.
/** @param {Card} card @param {Outcome} outcome */
export const silenceOf = ({ silenced, verdict }, { silenced: told, at }) => (told && Date.parse(verdict.at) < at ? told : silenced);

// whyNot says why a change doesn't apply to the user now. Its button keeps its place.
/** @param {Kind} kind @param {Card} card */
export function whyNot(kind, { silenced }) {
  switch (kind) {
    case "timeout":
      return silenced?.banned ? t("now.timeout-banned") : "";
    case "ban":
      return silenced?.banned ? silenceDone(silenced) : "";
    case "lift":
      return silenced ? "" : t("now.lift-nothing");
  }
  return "";
}

// whyEnded says why what the open form asks about isn't possible any more.
/** @param {Person} of */
export function whyEnded({ form: { kind, draft }, card }) {
  const { silenced } = card, isOther = kind === "lift" && silenced?.banned !== draft.silenced.banned;
  return silenced && (isOther || whyNot(kind, card)) ? inForceWords(silenced) : whyNot(kind, card);
}

// liftedBy returns the timeout or ban that the open form would end. A ban never replaces a timeout in
// it, or the reverse.
/** @param {Person} of @returns {Api.Silence} */
export const liftedBy = ({ form: { draft }, card: { silenced } }) => (silenced?.banned === draft.silenced.banned ? silenced : draft.silenced);

// requests make the change that a form asks for.
/** @type {Record<Kind, (person: Person, draft: any) => Promise<Outcome | null>>} */
const requests = {
  timeout: ({ id, card }, { length, reason }) => changes.timeOut(id, length, reason, isConflict(), card.timezone),
  ban: ({ id, card }, { reason }) => changes.ban(id, reason, card.timezone),
  lift: ({ id }, { silenced }) => changes.lift(id, silenced.banned ? "ban" : "timeout"),
  grant: ({ id, card }, { messages, limit }) => changes.grant(id, limit, Number(messages), card.timezone),
  exempt: ({ id, card }, { length }) => changes.exempt(id, changes.exemptLength(card, length), card.timezone),
  reset: ({ id }) => changes.reset(id),
  override: ({ id, card }, draft) => changes.override(id, overrideOf(draft, card), card.override_etag),
};

// submit makes the change that the open form asks for.
export async function submit() {
  const person = shown();
  const { form } = person;
  if (Object.keys(form.errors).length > 0 || isOutdated(person) || whyEnded(person)) return;
  await show(person, requests[form.kind](person, form.draft));
}

// timeOutFor times the user out at once, with the reason of the open form.
/** @param {string} length */
export function timeOutFor(length) {
  edit({ length: timeoutName(length) });
  return submit();
}

// pardon pardons the last throttled message and all throttled messages before it without a gap.
export const pardon = () => show(shown(), changes.pardon(shown().id, shown().card.timezone));

// undo undoes the last change.
export const undo = () => show(shown(), changes.undo(shown().id, state.changes[shown().id].undoing));

// show waits for the outcome of a change, then loads the card again. The form stays open if
// chatguard refused the change.
/** @param {Person} person @param {Promise<Outcome | null>} asked */
async function show(person, asked) {
  const outcome = await asked;
  if (!outcome) return;
  if (!outcome.problem) end(person);
  else if (outcome.mistake) mark(person, outcome.mistake);
  await reload();
  await loadWeek();
}

// mark shows a mistake beside the field of the value, and focuses the field.
/** @param {Person} person @param {Mistake} mistake */
function mark(person, mistake) {
  const field = person.form?.kind === "override" && overrideField(mistake, person.card);
  if (!field) return;
  change(person, { form: { ...person.form, errors: { [field]: mistake.problem } } });
  document.getElementById(`own-${field}`)?.focus();
}
