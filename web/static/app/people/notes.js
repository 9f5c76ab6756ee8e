// @ts-check
// The moderators' notes on the user whose card is shown.

import { comma, t } from "../../text/text.js";
import { html, useState } from "../../vendor/htm-preact.js";
import { userAddress } from "../changes/user.js";
import { request } from "../core/api.js";
import { ifSignedOut } from "../core/session.js";
import { useWarning } from "../core/leaving.js";
import { mayHelp, state } from "../core/state.js";
import { reload } from "./people.js";
import { Icon } from "../widgets/icon.js";
import { Question } from "../widgets/question.js";
import { authorName } from "../words/author.js";
import { stamp } from "../words/time.js";
import { unsavedChange } from "../words/unsaved.js";
/** @import { Person } from "./people.js" */

const longest = 1000; // bytes of a note

/** @typedef {{busy: boolean, problem: string, unsaved: boolean}} Sending */

/** @type {Sending} */
const idle = { busy: false, problem: "", unsaved: false };

/** @param {{person: Person}} props */
export function UserNotes({ person: { id, card } }) {
  const [sending, setSending] = useState(idle);
  const [asked, ask] = useState(0); // the note that the question is about
  /** @param {string} method @param {string} path @param {object} [body] */
  const send = async (method, path, body) => {
    if (sending.busy) return false;
    setSending({ ...idle, busy: true });
    const outcome = await sent(method, userAddress(id) + path, body);
    setSending(outcome);
    if (!outcome.problem) await reload();
    return !outcome.problem;
  };
  if (card.notes.length === 0 && !mayHelp()) return null;
  return html`
    <section class="part notes" aria-labelledby="notes-on-user">
      <h3 id="notes-on-user">${t("people.notes")}</h3>
      <ul>
        ${card.notes.map((note) => html`
          <${Note} key=${note.id} note=${note} isAsked=${asked === note.id} ask=${ask} remove=${() => send("DELETE", `/notes/${note.id}`).then(() => ask(0))} />`)}
      </ul>
      ${mayHelp() && html`<${NewNote} isFirst=${card.notes.length === 0} isBusy=${sending.busy} add=${(/** @type {string} */ text) => send("POST", "/notes", { text })} />`}
      <div role="status">
        ${sending.problem && html`<p class="error">${sending.problem}</p>`}
        ${sending.unsaved && html`<p class="note warn">${unsavedChange(state.status?.database)}</p>`}
      </div>
    </section>
  `;
}

/** @param {string} method @param {string} path @param {object} [body] @returns {Promise<Sending>} */
async function sent(method, path, body) {
  try {
    const answer = await request(method, path, { body });
    return { ...idle, unsaved: !answer.body.saved };
  } catch (problem) {
    return { ...idle, problem: ifSignedOut(problem) ? "" : problem.message };
  }
}

/** @param {{note: Api.Note, isAsked: boolean, ask: (id: number) => void, remove: () => void}} props */
function Note({ note, isAsked, ask, remove }) {
  const opener = `delete-note-${note.id}`;
  return html`
    <li>
      <p class="note-text"><bdi>${note.text}</bdi></p>
      <p class="note-by muted">
        <span><bdi>${authorName(note.author)}</bdi>${comma}<time datetime=${note.at}>${stamp(Date.parse(note.at))}</time></span>
        ${mayHelp() && !isAsked && html`
          <button type="button" id=${opener} class="icon-only" aria-label=${t("people.delete-note")} title=${t("people.delete-note")} onClick=${() => ask(note.id)}><${Icon} name="trash" /></button>`}
      </p>
      ${isAsked && html`
        <${Question} label=${t("people.delete-question")} opener=${opener} yes=${t("people.delete")} no=${t("people.keep")} act=${remove} close=${() => ask(0)}>${t("people.delete-question")}<//>`}
    </li>
  `;
}

/** @param {{isFirst: boolean, isBusy: boolean, add: (text: string) => Promise<boolean>}} props */
function NewNote({ isFirst, isBusy, add }) {
  const [text, write] = useState("");
  useWarning(text.trim() !== "");
  const isLong = new TextEncoder().encode(text.trim()).length > longest;
  /** @param {Event} event */
  const submit = async (event) => {
    event.preventDefault();
    if (text.trim() && !isLong && (await add(text))) write("");
  };
  return html`
    <form class="new-note" novalidate onSubmit=${submit}>
      <label for="new-note" class="unseen">${t("people.new-note")}</label>
      <textarea id="new-note" rows="1" maxlength=${longest} placeholder=${isFirst ? t("people.note-first-hint") : t("people.note-hint")} value=${text}
        onInput=${(event) => write(event.target.value)}></textarea>
      <button type="submit" aria-disabled=${isBusy || isLong || !text.trim() ? "true" : "false"}>${t("people.add-note")}</button>
      ${isLong && html`<p class="error" role="alert">${t("people.note-long", { bytes: String(longest) })}</p>`}
    </form>
  `;
}
