// The limits of a channel as the server keeps them, for tests of the page Limits.

import { answer, click, find, open, refuse, see, send, usualAnswer, withTag } from "./page.js";
import { differences } from "../static/app/limits/differences.js";

// serveLimits answers for the limits of a channel as the server does: it keeps what the page saves.
// adjust makes those of the configuration file of the usual ones. Of the result, policy is in
// force, change changes it as another person does, and a save waits for until.
export function serveLimits(adjust = (/** @type {any} */ _) => {}, { channel = "7", channels = usualAnswer("frame").channels } = {}) {
  const address = `/channels/${channel}/policy`;
  const file = usualAnswer("GET /channels/7/policy");
  adjust(file);
  const kept = { policy: file, revisions: /** @type {any[]} */ ([]), change, until: Promise.resolve() };
  const tag = () => `"${kept.revisions.length}"`;
  const live = () => {
    const { mode } = kept.policy, [last] = kept.revisions;
    return { etag: tag(), mode, in_force: mode, saved: true, ...(last && { revision: { number: last.number, author: last.author, at: last.at } }) };
  };

  const begin = () => answer(`frame ${channel}`, { ...usualAnswer("frame"), channel, channels, policy: live() });

  // revise puts a policy in force; null is the configuration file's.
  function revise(author, policy) {
    const revision = {
      channel, number: kept.revisions.length + 1, author, at: new Date().toISOString(), policy: policy ?? { ...file, limits: [] },
      changes: policy && differences(file, policy), difference: differences(kept.policy, policy ?? file), saved: true,
    };
    kept.revisions.unshift({ ...revision, discarded: !policy });
    kept.policy = policy ?? file;
    begin();
    send({ type: "policy", channel, policy: live() });
    return withTag(tag(), revision);
  }
  function change(/** @type {(policy: any) => void} */ edit, author = "owner") {
    const policy = structuredClone(kept.policy);
    edit(policy);
    revise(author, policy);
  }
  const ifMatch = (/** @type {(body: any) => any} */ run) => async ({ headers, body }) => {
    await kept.until;
    return headers.get("If-Match") === tag() ? run(body) : refuse(412, "Someone else changed the limits: try again.");
  };
  answer(`GET ${address}`, () => withTag(tag(), kept.policy));
  answer(`PUT ${address}`, ifMatch((policy) => revise("anna", policy)));
  answer(`POST ${address}/revert`, ifMatch(({ revision }) => revise("anna", revision > 0 ? kept.revisions.find(({ number }) => number === revision).policy : null)));
  answer(`GET ${address}/revisions`, ({ query: { before = Infinity, n = 50 } }) => {
    const older = kept.revisions.filter(({ number }) => number < before);
    return { revisions: older.slice(0, n), more: older.length > n };
  });
  answer(`GET ${address}/differences`, () => ({ changes: differences(file, kept.policy) }));
  for (const other of ["GET /channels/7/overrides", "GET /channels/7/settings", "POST /channels/7/preview"]) {
    if (channel !== "7") answer(other.replace("7", channel), usualAnswer(other));
  }
  begin();
  return kept;
}

// openLimits opens the page Limits, and waits until it shows the limits.
export async function openLimits(query = "") {
  await open(`limits${query}`);
  await see(() => find("form.limits"));
}

// isIdle reports whether nothing is typed or being saved.
export const isIdle = () => find("#save").getAttribute("aria-disabled") === "true" && !find(".mode").disabled;

// save saves what is typed.
export async function save() {
  await click("#save");
  await see(() => find(".note.good") && isIdle());
}
