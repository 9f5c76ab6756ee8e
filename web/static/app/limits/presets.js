// @ts-check
// Presets: complete sets of limits and penalties for common kinds of chats.

import { t } from "../../text/text.js";
import { draftLimit, draftTowards, isFixed, loadedOf } from "./draft.js";
import { rolesOf } from "../words/roles.js";
/** @import { Draft, DraftLimit } from "./draft.js" */

/**
 * @typedef {object} Preset
 * @property {string} id
 * @property {string} name
 * @property {string} about whom it is for
 * @property {Api.Limit[]} limits
 * @property {Api.Policy["penalties"]} penalties
 */

/**
 * @typedef {Pick<Preset, "id" | "name" | "limits"> & Partial<Preset> & {adds?: true}} Filling a
 *   preset, or limits without penalties; adds means that the other limits stay
 */

/** @param {number} burst @param {string} refill @param {Api.Limit["roles"]} [roles] @returns {Api.Limit} */
const burst = (burst, refill, roles) => ({ name: "burst", algorithm: "token-bucket", burst, refill, ...(roles && { roles }) });
/** @param {number} messages @param {Api.Limit["roles"]} [roles] @returns {Api.Limit} */
const daily = (messages, roles) => ({ name: "daily", algorithm: "daily-window", messages, ...(roles && { roles }) });
/** @param {string[]} ladder @param {string} [forget] @returns {Api.Policy["penalties"]} */
const penalties = (ladder, forget = "30m") => ({ ladder, strike_every: "10s", forget_after: forget });

// presets returns the presets with their texts.
/** @returns {Preset[]} */
export const presets = () => [
  {
    id: "gentle",
    name: t("limits.gentle"),
    about: t("limits.gentle-about"),
    limits: [burst(5, "2s"), daily(1000)],
    penalties: penalties(["delete", "delete", "delete", "warn", "timeout 30s"]),
  },
  {
    id: "busy",
    name: t("limits.busy"),
    about: t("limits.busy-about"),
    limits: [burst(3, "6s"), daily(300)],
    penalties: penalties(["delete", "delete", "warn", "timeout 1m", "timeout 10m"]),
  },
  {
    id: "raid-proof",
    name: t("limits.raid-proof"),
    about: t("limits.raid-proof-about"),
    limits: [
      burst(2, "15s", { subscriber: { burst: 3, refill: "8s" }, vip: { burst: 3, refill: "8s" }, first_timer: { burst: 1, refill: "30s" } }),
      daily(150, { subscriber: { messages: 300 }, vip: { messages: 300 } }),
      { name: "everyone", algorithm: "sliding-window", messages: 300, every: "1m", per: "channel", roles: { subscriber: { messages: 450 }, vip: { messages: 450 } } },
    ],
    penalties: penalties(["delete", "timeout 1m", "timeout 10m", "timeout 1h"], "1h"),
  },
  {
    id: "subscribers-first",
    name: t("limits.subscribers-first"),
    about: t("limits.subscribers-first-about"),
    limits: [
      burst(1, "30s", { subscriber: { burst: 5, refill: "3s" }, vip: { burst: 5, refill: "3s" } }),
      daily(30, { subscriber: { messages: 500 }, vip: { messages: 500 } }),
    ],
    penalties: penalties(["delete", "delete", "warn", "timeout 30s", "timeout 10m"]),
  },
];

// samePresets returns the limits on repeated messages that can be added to others.
/** @returns {(Filling & {about: string})[]} */
export const samePresets = () => [
  {
    id: "no-repeats",
    name: t("limits.no-repeats"),
    about: t("limits.no-repeats-about"),
    adds: true,
    limits: [{ name: "no-repeats", algorithm: "sliding-log", messages: 1, every: "30s", per: "user-text", similar: true }],
  },
  {
    id: "copy-paste",
    name: t("limits.copy-paste"),
    about: t("limits.copy-paste-about"),
    adds: true,
    limits: [{ name: "copy-paste", algorithm: "sliding-log", messages: 3, every: "30s", per: "text", similar: true }],
  },
];

// withRoles returns a limit without the numbers of roles that the policy doesn't have.
/** @param {Api.Limit} limit @param {string[]} known @returns {Api.Limit} */
function withRoles({ roles, ...limit }, known) {
  const own = Object.entries(roles ?? {}).filter(([role]) => known.includes(role));
  return own.length > 0 ? { ...limit, roles: Object.fromEntries(own) } : limit;
}

// withPreset returns the draft with the preset's limits, in place of the others unless it only adds
// some, and, if it has some, with its penalties. It
// keeps the mode, the time zone, exemptions, and limits that count across all channels. It also
// keeps a ladder that only blocks messages, because that is a chat server's.
/** @param {{policy: Api.Policy, draft: Draft}} of @param {Filling} preset @returns {Draft} */
export function withPreset({ policy, draft }, preset) {
  if (preset.adds) return { ...draft, limits: preset.limits.reduce((limits, limit) => withLimit(limits, limit, policy), draft.limits) };
  const fixed = policy.limits.filter(isFixed);
  const own = preset.limits.map((limit) => ({ ...withRoles(limit, rolesOf(policy)), name: freeName(limit.name, fixed) }));
  const wanted = { ...policy, limits: [...own, ...fixed], penalties: penaltiesOf(policy, preset) };
  const { mode, timezone, exempt, exemptMessages, rungs, lengths } = draft;
  return { ...draftTowards(policy, wanted), mode, timezone, exempt, exemptMessages, ...(!preset.penalties && { rungs, lengths }) };
}

// withLimit returns the drafts of limits with one more, which replaces one of the same name.
/** @param {DraftLimit[]} limits @param {Api.Limit} limit @param {Api.Policy} policy @returns {DraftLimit[]} */
function withLimit(limits, limit, policy) {
  const own = { ...limit, name: freeName(limit.name, policy.limits.filter(isFixed)) };
  const place = limits.findIndex(({ name }) => name === own.name), present = limits[place];
  if (!present) return [...limits, { ...draftLimit(own, `new ${own.name}`), isNew: true }];
  const draft = { ...draftLimit(own, present.id), isNew: present.isNew }, loaded = loadedOf(policy, present);
  return limits.map((other, i) => (i !== place ? other : loaded?.algorithm === own.algorithm ? { ...draft, source: loaded } : draft));
}

/** @param {Api.Policy} policy @param {Filling} preset */
function penaltiesOf({ penalties: { ladder, ...lengths } }, preset) {
  const isServer = (ladder ?? []).every((rung) => rung === "drop" || rung === "none");
  return { ...lengths, ...preset.penalties, ladder: isServer ? ladder : (preset.penalties?.ladder ?? ladder) };
}

/** @param {string} name @param {Api.Limit[]} others @returns {string} */
const freeName = (name, others) => (others.some((other) => other.name === name) ? freeName(`${name}-2`, others) : name);
