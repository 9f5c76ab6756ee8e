// What would have happened: the limits in force, and beside them the change that is being typed.

import { html, useEffect } from "../vendor/htm-preact.js";
import { amount } from "./algorithms.js";
import { isDirty, policyOf } from "./draft.js";
import { past } from "./penalty-words.js";
import { ask } from "./preview.js";
import { linkTo } from "./route.js";
import { shownID } from "./state.js";
import { clock, wait } from "./time.js";

export function PreviewPane({ state }) {
  const { form, preview, channel, feed } = state;
  const isCutOff = feed.state === "lost";
  const isWrong = Object.keys(form.errors).length > 0;
  const limits = { ...form, draft: { ...form.draft, mode: form.policy.mode } }; // both sides are judged as if enforced
  const wanted = isWrong ? "" : JSON.stringify(policyOf(limits));
  useEffect(() => (wanted && !isCutOff ? ask(JSON.parse(wanted), isDirty(limits)) : undefined), [channel, form.etag, wanted, isCutOff]);
  const { result, isChange, problem, busy } = preview ?? {};
  const isWaiting = isWrong || isCutOff;
  return html`
    <section class="preview" aria-labelledby="preview-title" aria-busy=${busy ? "true" : "false"}>
      <h2 id="preview-title">What would have happened</h2>
      <p class="headline" role="status">${isWaiting ? waitingFor(isWrong) : busy ? "Counting…" : headline(result, isChange)}</p>
      ${problem && !isWaiting && html`<p class="error" role="alert">${problem}</p>`}
      ${result?.messages > 0 && html`
        <div class=${isWaiting || busy || problem ? "stale" : ""}>
          <p class="basis muted">${basis(result)}</p>
          <${Outcomes} result=${result} isChange=${isChange} names=${form.draft.limits.map(({ name }) => name)} />
          ${isChange && html`<${Changed} users=${result.changed ?? []} state=${state} />`}
        </div>`}
    </section>
  `;
}

const nothing = "No message is recorded yet. What people write from now on is kept for 48 hours, without its text, to try limits on.";

const waitingFor = (isWrong) => `It is counted again ${isWrong ? "once what is marked is mended" : "when chatguard answers"}.`;

function headline(result, isChange) {
  if (!result) return "";
  if (result.messages === 0) return nothing;
  const { in_force: present, candidate } = result;
  if (!isChange && present.throttled_messages === 0) return "These limits would have throttled nobody.";
  if (!isChange) return `These limits would have throttled ${messages(present.throttled_messages)} of ${users(present.throttled_users)}.`;
  const by = candidate.throttled_messages - present.throttled_messages;
  if (by === 0 && result.changed?.length > 0) return "The change would have throttled as many messages, but of others.";
  if (by === 0) return "The change would have made no difference.";
  return `The change would have throttled ${messages(Math.abs(by))} ${by > 0 ? "more" : "fewer"}.`;
}

const messages = (n) => (n === 1 ? "1 message" : `${amount(n)} messages`);
const users = (n) => (n === 1 ? "1 user" : `${amount(n)} users`);

function basis({ from, until, messages: all, users: who, exempt_messages: exempt, truncated }) {
  const sentences = [
    `Counted over the last ${wait(Date.parse(until) - Date.parse(from))}, up to ${clock(Date.parse(until))}: ${messages(all)} of ${users(who)}`
      + (exempt > 0 ? `, ${amount(exempt)} of them without limits.` : "."),
    truncated && "Earlier ones are too many to be counted.",
    "As if enforced, and as if everyone had begun afresh.",
  ];
  return sentences.filter(Boolean).join(" ");
}

function Outcomes({ result: { in_force: present, candidate }, isChange, names }) {
  const all = [
    ["Messages throttled", present.throttled_messages, candidate.throttled_messages],
    ["Users throttled", present.throttled_users, candidate.throttled_users],
  ];
  const drawn = pairs(present.penalties, candidate.penalties, Object.keys(past)).map(([name, ...numbers]) => [past[name] ?? name, ...numbers]);
  return html`
    <table>
      <thead>
        <tr>
          <th scope="col"><span class="unseen">What</span></th><th scope="col">Now</th>
          ${isChange && html`<th scope="col">Changed</th><th scope="col">Difference</th>`}
        </tr>
      </thead>
      <${Group} rows=${all} isChange=${isChange} />
      <${Group} name="Messages by limit" rows=${pairs(present.by_limit, candidate.by_limit, names)} isChange=${isChange} />
      <${Group} name="Only observed" rows=${pairs(present.observed_by_limit, candidate.observed_by_limit, names)} isChange=${isChange} />
      <${Group} name="Penalties" rows=${drawn} isChange=${isChange} />
    </table>
  `;
}

// pairs joins the numbers of both sides by name, in the order of the names.
function pairs(present, candidate, names) {
  const all = new Set([...names, ...Object.keys(present ?? {}), ...Object.keys(candidate ?? {})]);
  return [...all].map((name) => [name, present?.[name] ?? 0, candidate?.[name] ?? 0]).filter(([, before, after]) => before > 0 || after > 0);
}

function Group({ name, rows, isChange }) {
  if (rows.length === 0) return null;
  return html`
    <tbody>
      ${name && html`<tr class="group"><th scope="rowgroup" colspan=${isChange ? 4 : 2}>${name}</th></tr>`}
      ${rows.map(([what, before, after]) => html`
        <tr>
          <th scope="row"><bdi>${what}</bdi></th><td>${amount(before)}</td>
          ${isChange && html`<td>${amount(after)}</td><td><${Difference} by=${after - before} /></td>`}
        </tr>
      `)}
    </tbody>
  `;
}

function Difference({ by }) {
  if (by === 0) return html`<span class="muted">same</span>`;
  return by > 0 ? `+${amount(by)}` : `−${amount(-by)}`;
}

function Changed({ users, state }) {
  if (users.length === 0) return null;
  return html`
    <table class="changed">
      <caption>Users whose messages would have gone otherwise${users.length === 100 ? ", the 100 with the largest difference" : ""}</caption>
      <thead><tr>${["User", "Now", "Changed", "Difference"].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>
        ${users.map(({ user_id: id, login, in_force: before, candidate: after }) => html`
          <tr key=${id}>
            <th scope="row"><a href=${linkTo(state, "people", { user: id })}><bdi>${login || shownID(id)}</bdi></a></th>
            <td>${amount(before)}</td><td>${amount(after)}</td><td><${Difference} by=${after - before} /></td>
          </tr>`)}
      </tbody>
    </table>
  `;
}
