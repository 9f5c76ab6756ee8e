// @ts-check
// The card Access: who can sign in, and which programs have access.

import { t } from "../../text/text.js";
import { html, useEffect, useRef, useState } from "../../vendor/htm-preact.js";
import { follow } from "../core/follow.js";
import { update } from "../core/state.js";
import { AccessForm } from "./access-form.js";
import { AccessList } from "./access-list.js";
import { Secret } from "./secret.js";
/** @import { State } from "../core/state.js" */
/** @import { Grants, Kind } from "./access.js" */
/** @import { AccessDraft } from "./access-form.js" */

const every = 5000; // between two requests, ms

/** @typedef {{grants: Grants | null, problem: string}} Known */
/** @typedef {{kind: Kind, name: string, secret: string}} Made */

/** @param {{state: State}} props */
export function AccessCard({ state }) {
  const [known, setKnown] = useState(/** @type {Known} */ ({ grants: null, problem: "" }));
  const [changes, setChanges] = useState(0); // made here, after which the list is loaded again
  const [making, make] = useState(/** @type {Kind | ""} */ ("")); // the form that is open
  const { current: kept } = useRef(/** @type {Partial<Record<Kind, AccessDraft>>} */ ({}));
  const [made, setMade] = useState(/** @type {Made | null} */ (null));
  useEffect(() => follow("/access", every, ({ body, problem }) => setKnown((before) => ({ grants: body ?? before.grants, problem }))), [changes]);
  const again = () => setChanges((count) => count + 1);
  /** @param {Kind} kind */
  const open = (kind) => {
    setMade(null);
    make(kind);
  };
  /** @param {Kind} kind */
  const cancel = (kind) => {
    delete kept[kind];
    make("");
    update((s) => (s.focus = `new-${kind}`));
  };
  const { grants, problem } = known;
  return html`
    <section class="card access" aria-labelledby="access-title">
      <div class="card-head">
        <h2 id="access-title" class="headline">${t("admin.access")}</h2>
        ${!making && html`
          <div class="together">
            <button type="button" id="new-link" onClick=${() => open("link")}>${t("admin.open-link")}</button>
            <button type="button" id="new-token" onClick=${() => open("token")}>${t("admin.open-token")}</button>
          </div>`}
      </div>
      <p class="muted">${t("admin.access-about")}</p>
      ${state.status?.shared && html`<p class="muted">${t("admin.this-node-only")}</p>`}
      ${problem && html`<p class="error" role="alert">${problem}</p>`}
      ${made && html`<${NewSecret} made=${made} close=${() => setMade(null)} />`}
      ${making && html`
        <${AccessForm} key=${making} kind=${making} kept=${kept} cancel=${() => cancel(making)} close=${() => make("")} made=${(/** @type {string} */ name, /** @type {any} */ { token, link }) => {
          delete kept[making];
          make("");
          setMade({ kind: making, name, secret: token ?? link });
          again();
        }} />`}
      ${!grants && !problem && html`<p class="muted">${t("shell.loading")}</p>`}
      ${grants && html`<${AccessList} grants=${grants} again=${again} />`}
    </section>
  `;
}

/** @param {{made: Made, close: () => void}} props */
function NewSecret({ made: { kind, name, secret }, close }) {
  const isToken = kind === "token";
  return html`
    <${Secret} title=${isToken ? t("admin.token-of", { name }) : t("admin.link-for", { name })} hint=${isToken ? t("admin.token-once") : t("admin.link-once")}
      secret=${secret} copy=${isToken ? t("admin.copy-token") : t("admin.copy-link")} done=${t("admin.done")} close=${close} />
  `;
}
