// What can be done about the user whose card is shown: buttons, the form that one of them opens, and how that went.

import { html, useEffect, useRef } from "../vendor/htm-preact.js";
import { unsavedText } from "./channel-switches.js";
import { grantable } from "./giving.js";
import { OverrideFields } from "./override-fields.js";
import { close, mayUndo, open, pardon, submit, undo } from "./user-changes.js";
import { ExemptFields, GrantFields, ResetQuestion } from "./user-fields.js";

const kinds = {
  grant: { name: "Grant…", does: "Grant", title: "Grant extra messages", Fields: GrantFields },
  exempt: { name: "Exempt…", does: "Exempt", title: "Exempt from all limits", Fields: ExemptFields },
  reset: { name: "Reset…", does: "Reset", title: "Reset", Fields: ResetQuestion },
  override: { name: "Own numbers…", does: "Save", title: "Numbers, zone and exemption of their own", Fields: OverrideFields },
};

export function UserButtons({ state, person }) {
  const { form, said, card } = person;
  const possible = Object.entries(kinds).filter(([kind]) => kind !== "grant" || grantable(card).length > 0);
  return html`
    <div class="amends">
      <div class="buttons" role="group" aria-label="Change this user">
        ${card.entries.length > 0 && html`
          <button type="button" id="amend-pardon" aria-label="Pardon ${(card.login || card.user_id).slice(0, 50)}" onClick=${pardon}>Pardon</button>`}
        ${possible.map(([kind, { name }]) => html`
          <button type="button" id=${`amend-${kind}`} aria-expanded=${form?.kind === kind ? "true" : "false"} onClick=${() => open(kind)}>${name}</button>
        `)}
      </div>
      ${form && html`<${AmendForm} key=${form.kind} state=${state} person=${person} />`}
      <div role="status">${said && html`<${Said} said=${said} mayUndo=${mayUndo(person)} database=${state.status?.database} />`}</div>
    </div>
  `;
}

// AmendForm takes the focus while it is open, and gives it back to its button.
function AmendForm({ state, person }) {
  const { form } = person;
  const { title, does, Fields } = kinds[form.kind];
  const place = useRef(null);
  useEffect(() => {
    const opened = place.current;
    opened.querySelector("input, select, button").focus();
    return () => {
      const focused = document.activeElement;
      if (opened.contains(focused) || focused === document.body) document.getElementById(`amend-${form.kind}`)?.focus();
    };
  }, []);
  const onSubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return html`
    <form class="amend" ref=${place} aria-label=${title} novalidate onSubmit=${onSubmit} onKeyDown=${(event) => event.key === "Escape" && close()}>
      <${Fields} state=${state} person=${person} />
      <p class="error" role="alert">${form.problem}</p>
      <div class="buttons">
        <button class="primary" aria-disabled=${form.busy || Object.keys(form.errors).length > 0 ? "true" : "false"}>${does}</button>
        <button type="button" onClick=${close}>Cancel</button>
      </div>
    </form>
  `;
}

function Said({ said: { text, isProblem, isPartial, saved }, mayUndo, database }) {
  return html`
    <p class="note ${isProblem ? "bad" : saved && !isPartial ? "good" : "warn"}">
      <span>${text}${!saved && ` ${unsavedText(database)}`}</span>
      ${mayUndo && html`<button type="button" onClick=${undo}>Undo</button>`}
    </p>
  `;
}
