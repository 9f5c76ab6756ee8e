// The limits of the channel, to be changed. What is saved holds from the next message on.

import { html, useEffect, useLayoutEffect } from "../vendor/htm-preact.js";
import { HistoryPane } from "./history-pane.js";
import { LimitCard } from "./limit-card.js";
import { LimitChooser } from "./limit-chooser.js";
import { loadOverrides } from "./limit-overrides.js";
import { LimitsFinish } from "./limits-finish.js";
import { Penalties } from "./penalties.js";
import { save } from "./policy.js";
import { PreviewPane } from "./preview-pane.js";
import { configured, mayModerate } from "./state.js";
import { clock } from "./time.js";

export function LimitsPage({ state }) {
  const { form } = state;
  if (!form?.policy) return form?.problem ? html`<p class="error" role="alert">${form.problem}</p>` : html`<p class="muted">Loading the limits…</p>`;
  return html`<${Limits} key=${state.channel} state=${state} />`;
}

function Limits({ state }) {
  const { form, overrides, channel } = state;
  const mayEdit = mayModerate() && !form.busy;
  useFocus(form);
  useEffect(() => void loadOverrides(), [channel, form.etag]);
  const submit = (event) => {
    event.preventDefault();
    save();
  };
  return html`
    <form class="limits" onSubmit=${submit} novalidate>
      <div class="columns">
        <div class="editor">
          <h1>Limits</h1>
          <p class="muted">${!form.conflict && origin(form.revision)} ${mayModerate() ? "A change holds from the next message on." : mode(form.policy)}</p>
          ${form.draft.limits.map((limit, i) => html`
            <${LimitCard} key=${limit.id} limit=${limit} index=${i} form=${form} mayEdit=${mayEdit} overrides=${overrides} />
          `)}
          ${form.draft.limits.length === 0 && html`<p class="none muted">There are no limits: nobody is throttled.</p>`}
          ${overrides?.problem && html`<p class="error">Who has numbers of their own can’t be shown: ${overrides.problem}</p>`}
          ${mayModerate() && html`<${LimitChooser} />`}
          <${Penalties} form=${form} mayEdit=${mayEdit} />
          <${HistoryPane} state=${state} mayEdit=${mayEdit} />
        </div>
        <${PreviewPane} state=${state} />
      </div>
      ${mayModerate() && html`<${LimitsFinish} state=${state} />`}
    </form>
  `;
}

// useFocus sends the focus where an edit leads; and to the button that saves, where what had it has gone or can't be used for now.
function useFocus({ focus }) {
  const had = document.activeElement.closest(".limits");
  useLayoutEffect(() => focus && document.getElementById(focus.id)?.focus(), [focus]);
  useLayoutEffect(() => {
    const has = document.activeElement;
    if (had && (has === document.body || has.matches(":disabled"))) document.getElementById("save")?.focus();
  });
}

function origin(revision) {
  if (revision === undefined) return "Who changed them last can’t be read now.";
  if (!revision?.changes?.length) return `As in the ${configured().name}.`;
  return html`Changed by <bdi>${revision.author}</bdi>, ${clock(Date.parse(revision.at))}.`;
}

const mode = (policy) => (policy.mode === "enforce" ? "They are enforced." : "They only observe: nobody is held back.");
