// Changing the user whose card is shown: the form that is open, and how the last change went.
//
// person.form is {kind, draft, errors, before, problem, busy}: kind is "grant", "exempt", "reset" or "override", draft what has been typed, errors
// what is wrong with it by field, etag that of the override that it began with, problem what chatguard refused. person.said is {text, isProblem, isPartial,
// saved, former, etag, undoing}: former is the override that undoing puts back, null where there is none, and etag that of what it takes away; undoing is
// {pardon, until} of a pardon that can be undone. person.isPardoning is true while chatguard hasn't answered a pardon.

import { exempt, grant, override, pardonUser, reset, unpardonUser } from "./amends.js";
import { grantedUsually, lengthAsked } from "./giving.js";
import { overrideDraft, overrideErrors, overrideOf } from "./override.js";
import { pardonWords, unpardonWords } from "./pardon-words.js";
import { change, reload } from "./people.js";
import { ifSignedOut } from "./session.js";
import { now, state } from "./state.js";
import { clock } from "./time.js";
import { loadWeek } from "./week.js";

const shown = () => state.people.person;

const drafts = {
  grant: (card) => ({ messages: "10", limit: grantedUsually(card) }),
  exempt: () => ({ length: "10m" }),
  reset: () => ({}),
  override: overrideDraft,
};

// open opens a form, in place of any other; the one that is open it closes.
export function open(kind) {
  const { form, card } = shown();
  if (form?.busy) return;
  change(shown(), { said: null, form: form?.kind === kind ? null : fresh(kind, card) });
}

function fresh(kind, card) {
  return { kind, draft: drafts[kind](card), errors: {}, etag: card.override_etag, problem: "", busy: false };
}

// startOver begins the open form anew with what holds by now.
export function startOver() {
  change(shown(), { form: fresh(shown().form.kind, shown().card) });
}

export function close() {
  if (!shown().form?.busy) change(shown(), { form: null });
}

const checks = {
  grant: ({ messages }) => (/^[1-9]\d*$/.test(messages.trim()) ? {} : { messages: "Write a whole number, 1 or more." }),
  override: overrideErrors,
};

// edit changes the draft of the open form.
export function edit(news) {
  const { form, card } = shown();
  if (form.busy) return;
  const draft = { ...form.draft, ...news };
  change(shown(), { form: { ...form, draft, errors: checks[form.kind]?.(draft, card) ?? {}, problem: "" } });
}

// isOutdated reports whether somebody else has changed what the open form is about.
export function isOutdated({ form, card }) {
  return form?.kind === "override" && form.etag !== card.override_etag;
}

// mayUndo reports whether what the last change made holds still: else somebody has changed it since, and undoing would undo that, too.
export function mayUndo({ said, card }) {
  if (said?.undoing) return Date.parse(said.undoing.until) > now();
  return said?.former && said.etag === card.override_etag;
}

// Each of requests asks chatguard for what a form says, and returns what is said then.
const requests = {
  async grant({ id, card }, { messages, limit }) {
    const { saved, until } = await grant(id, limit, Number(messages));
    const sent = Number(messages) === 1 ? "1 extra message" : `${messages.trim()} extra messages`;
    return { text: `${sent} in ${limit}, until ${clock(Date.parse(until), card.timezone)}.`, saved, former: null };
  },
  async exempt({ id, card }, { length }) {
    const { saved, until, former, override_etag: etag } = await exempt(id, lengthAsked(card, length));
    return { text: until ? `Exempt until ${clock(Date.parse(until), card.timezone)}.` : "Exempt for good.", saved, former, etag };
  },
  async reset({ id }) {
    const { saved } = await reset(id);
    return { text: "Reset: everything they had used is forgotten.", saved, former: null };
  },
  async override({ id, card }, draft) {
    const { saved, former, override_etag: etag } = await override(id, overrideOf(draft, card), card.override_etag);
    return { text: "Changed. The next message is judged by it.", saved, former, etag };
  },
};

// submit asks chatguard for what the open form says.
export function submit() {
  const person = shown();
  const { form } = person;
  if (form.busy || Object.keys(form.errors).length > 0 || isOutdated(person)) return;
  return send(person, form, () => requests[form.kind](person, form.draft));
}

// pardon forgives all that was held back without a pause, up to the last message.
export function pardon() {
  const person = shown();
  if (person.isPardoning) return undefined;
  change(person, { isPardoning: true });
  return send(person, null, async () => {
    const answer = await pardonUser(person.id);
    const { sentence: text, isPartial } = pardonWords(answer, person.card.timezone);
    return { text, isPartial, saved: answer.saved, former: null, undoing: answer.id ? { pardon: answer.id, until: answer.undo_until } : null };
  });
}

// undo undoes the last pardon, or puts back the override that the last change replaced.
export function undo() {
  const person = shown();
  const { former, etag, undoing } = person.said;
  if (undoing) {
    return send(person, null, async () => {
      const answer = await unpardonUser(person.id, undoing.pardon);
      return { text: unpardonWords(answer), saved: answer.saved, former: null };
    });
  }
  return send(person, null, async () => ({ text: "Undone.", saved: (await override(person.id, former, etag)).saved, former: null }));
}

async function send(person, form, ask) {
  if (form) change(person, { form: { ...form, busy: true, problem: "" } });
  try {
    change(person, { said: await ask(), form: null });
  } catch (problem) {
    if (ifSignedOut(problem)) return;
    const refused = problem.message;
    change(person, form ? { form: { ...form, busy: false, problem: refused } } : { said: { text: refused, isProblem: true, saved: true, former: null } });
  }
  change(person, { isPardoning: false });
  await reload();
  await loadWeek();
}
